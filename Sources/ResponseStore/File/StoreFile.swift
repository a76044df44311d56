import CLinux
import Glibc
import SQLiteDatabase

/// One SQLite file and what it is for. Threads open their own connections from it; none is shared.
package struct StoreFile: Sendable {
    package enum Role: Sendable {
        /// Read and written, emptied or moved aside when it cannot be used.
        case cache
        /// A cache's, worked on by hand: read and written, and never made, emptied or moved aside. What cannot be written fails.
        case kept
        /// Appended to, never evicted, never emptied.
        case recording
        /// Only read.
        case snapshot
    }

    /// What opening a file did besides, for the log.
    package enum Event: Sendable, Equatable {
        case emptied(version: Int32)
        case movedAside(to: String, reason: String)
    }

    package let path: String
    package let role: Role

    package init(path: String, role: Role) {
        self.path = path
        self.role = role
    }

    func connect(_ access: Connection.Access) throws(StoreError) -> Connection { try Connection(path: path, access: access) }

    /// Opens the cache's file for writing, whatever state it is in, and makes it where it is missing.
    /// - Parameter secret: For a file that has to be made.
    func openForWriting(secret: [UInt8], report: (Event) -> Void) throws(StoreError) -> Connection {
        precondition(role == .cache || role == .kept, "only the cache's file is written")
        if role == .kept { return try openKept() }
        try FileSystem.makeFolder(FileSystem.folder(of: path))
        // A second try for a file that was emptied or moved aside; a third can only mean that the disk itself fails.
        for _ in 0..<2 {
            do {
                if let connection = try openOnce(secret: secret, report: report) { return connection }
            } catch  where error.code == .damaged {
                report(.movedAside(to: try moveAside(), reason: error.message))
            }
        }
        guard let connection = try openOnce(secret: secret, report: report) else {
            throw StoreError(.failed, path: path, message: "the store cannot be emptied")
        }
        return connection
    }

    private func openKept() throws(StoreError) -> Connection {
        let connection = try connect(.writing)
        try Schema.expectCurrent(on: connection)
        try useLog(on: connection)
        return connection
    }

    private func useLog(on connection: Connection) throws(StoreError) {
        try connection.execute("PRAGMA journal_mode=WAL; PRAGMA journal_size_limit=\(Self.keptLogLength)")
    }

    /// What the file of the write-ahead log is cut back to once a checkpoint has emptied it, in bytes.
    private static let keptLogLength = 64 << 20

    /// - Returns: `nil` when the file was emptied and has to be opened again.
    private func openOnce(secret: [UInt8], report: (Event) -> Void) throws(StoreError) -> Connection? {
        try FileSystem.makeFile(path)
        guard StoreFileMark(ofFileAt: path) != .foreign else { throw foreign() }
        let connection = try connect(.writing)
        switch try Schema.inspect(connection) {
        case .empty: try Schema.create(on: connection, secret: secret)
        case .current:
            // No version of SQLite that could only be read from has written a store.
            if connection.isReadOnly, access(path, W_OK) == 0 {
                throw StoreError(.damaged, path: path, message: "its header marks it as read-only")
            }
        case .older(let version):
            connection.leaveLogOnClose()
            removeFiles()
            report(.emptied(version: version))
            return nil
        case .newer(let version):
            connection.leaveLogOnClose()
            throw StoreError(
                .newerSchema(version), path: path,
                message: "a newer version wrote the store (schema \(version); this version supports \(Schema.version))")
        case .foreign:
            connection.leaveLogOnClose()
            throw foreign()
        }
        FileSystem.makePrivate(path)
        try useLog(on: connection)
        return connection
    }

    private func foreign() -> StoreError {
        StoreError(
            .foreignFile, path: path,
            message: "the file is not a Larder store, so Larder does not change it; set another path for the store")
    }

    /// Gives a damaged file another name, which no file has. No connection may be open.
    /// - Returns: The new name.
    /// - Throws: `foreignFile` unless the file begins as one of our databases: it may be a user's.
    func moveAside() throws(StoreError) -> String {
        guard StoreFileMark(ofFileAt: path) == .ours else { throw foreign() }
        let name = "\(path).damaged-\(Clock.stamp(ofSeconds: Clock.seconds()))"
        var target = name
        var number = 1
        // The store's lock keeps other processes from choosing the same name.
        while FileSystem.length(of: target) != nil {
            number += 1
            target = "\(name)-\(number)"
        }
        if rename(path, target) != 0 { throw StoreError(systemCall: "rename", path: path, code: errno) }
        if rename(path + "-wal", target + "-wal") != 0 { unlink(path + "-wal") }
        unlink(path + "-shm")
        return target
    }

    /// Deletes the file. No connection may be open.
    func removeFiles() {
        unlink(path)
        unlink(path + "-wal")
        unlink(path + "-shm")
    }
}
