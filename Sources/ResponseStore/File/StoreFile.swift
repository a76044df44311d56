import CLarderLinux
import Glibc
import SQLiteDatabase

/// One SQLite file and its role. Each thread opens its own connection; none is shared.
package struct StoreFile: Sendable {
    package enum Role: Sendable {
        /// A cache's file: read and written, and emptied or moved aside if it cannot be used.
        case cache
        /// A cache's file for manual work: read and written, but never created, emptied or moved aside. A failed write is an error.
        case kept
        /// A file of recordings: responses are added, nothing is evicted, and the file is never emptied.
        case recording
        /// A file that is only read.
        case snapshot
    }

    /// A change to the file that was necessary to open it, for the log.
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

    func connect(_ access: Connection.Access) throws(StoreError) -> Connection {
        try StorePlace.check(path)
        return try Connection(path: path, access: access)
    }

    /// Opens the store's file for writing. In the role `cache`, creates a missing file, and empties or moves aside a file that cannot be
    /// used.
    /// - Parameter secret: the secret for a file that must be created.
    func openForWriting(secret: [UInt8], report: (Event) -> Void) throws(StoreError) -> Connection {
        precondition(role == .cache || role == .kept, "only the cache's file is written")
        if role == .kept { return try openKept() }
        try FileSystem.makeFolder(FileSystem.folder(of: path))
        // A file that was emptied or moved aside is opened again. A third attempt is only necessary if the disk itself fails.
        for _ in 0..<2 {
            do {
                if let connection = try openOnce(secret: secret, report: report) { return connection }
            } catch  where error.code == .damaged {
                report(.movedAside(to: try moveAside(), reason: error.message))
            }
        }
        guard let connection = try openOnce(secret: secret, report: report) else {
            throw StoreError(.failed, path: path, message: "Larder cannot empty the store")
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

    /// The length in bytes to which the write-ahead log's file is truncated after a checkpoint has emptied it.
    private static let keptLogLength = 64 << 20

    /// - Returns: `nil` if the file was emptied and must be opened again.
    private func openOnce(secret: [UInt8], report: (Event) -> Void) throws(StoreError) -> Connection? {
        try FileSystem.makeFile(path)
        guard StoreFileMark(ofFileAt: path) != .foreign else { throw foreign() }
        let connection = try connect(.writing)
        switch try Schema.inspect(connection) {
        case .empty: try Schema.create(on: connection, secret: secret)
        case .current:
            // A header that marks the file as read-only is damaged: no SQLite version that writes stores sets this mark.
            if connection.isReadOnly, access(path, W_OK) == 0 {
                throw StoreError(.damaged, path: path, message: "the file's header marks the file as read-only")
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
                message: "a newer version of Larder wrote the store (schema \(version); this version supports \(Schema.version))")
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

    /// Renames a damaged file to an unused name. No connection may be open.
    /// - Returns: the new name.
    /// - Throws: `foreignFile` if the file does not start like one of Larder's databases, because it may then belong to a user.
    func moveAside() throws(StoreError) -> String {
        guard StoreFileMark(ofFileAt: path) == .ours else { throw foreign() }
        let name = "\(path).damaged-\(Clock.stamp(ofSeconds: Clock.seconds()))"
        var target = name
        var number = 1
        // The store's lock prevents other processes from choosing the same name.
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
