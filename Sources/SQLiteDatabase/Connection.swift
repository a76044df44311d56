internal import CSQLite

/// One connection to a SQLite file. Confined to the thread that made it.
///
/// Closed when it and its last statement are let go.
package final class Connection {
    package enum Access {
        case reading, writing, checkpointing
        /// Changes nothing, not even at its end: the log stays as it is.
        case browsing
        /// Reads a finished file that nobody changes, in a folder that may be read-only; whoever wrote it is not believed (T46).
        case immutable
    }

    package let path: String
    let handle: OpaquePointer
    /// Pages in the log after the latest commit, noted by SQLite's hook.
    private let logPages: UnsafeMutablePointer<Int32>

    /// Opens the file with the settings that hold for all our connections. The file must be there.
    package init(path: String, access: Access) throws(DatabaseError) {
        _ = Connection.library
        var opened: OpaquePointer?
        let name = access == .immutable ? Self.immutableName(of: path) : path
        let mode =
            switch access {
            case .immutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            case .browsing: SQLITE_OPEN_READONLY
            case .reading, .writing, .checkpointing: SQLITE_OPEN_READWRITE
            }
        let flags = mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(name, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let error = DatabaseError(
                DatabaseError.Code(extended: code, systemError: opened.map { sqlite3_system_errno($0) } ?? 0), path: path,
                message: String(cString: sqlite3_errstr(code)), resultCode: code)
            sqlite3_close_v2(opened)
            throw error
        }
        self.path = path
        handle = opened
        logPages = .allocate(capacity: 1)
        logPages.initialize(to: 0)
        // No view, trigger or function that a hostile or damaged schema could smuggle in.
        try configure(SQLITE_DBCONFIG_DEFENSIVE, 1)
        try configure(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        try configure(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        try configure(SQLITE_DBCONFIG_ENABLE_VIEW, 0)
        // Before anything of the file is read.
        if access == .immutable { limitValues() }
        sqlite3_busy_timeout(handle, Self.busyMilliseconds)
        try apply(access)
        // After the settings: the one about automatic checkpoints takes the hook away.
        sqlite3_wal_hook(handle, noteLogPages, logPages)
    }

    deinit {
        // The last statement has been let go before: each of them keeps its connection.
        sqlite3_close_v2(handle)
        logPages.deallocate()
    }

    /// The log's length after the latest commit of this connection.
    package var logLength: Int { Int(logPages.pointee) * Connection.pageLength }

    package static let pageLength = 8192

    /// Runs one or several statements whose rows nobody reads.
    package func execute(_ sql: String) throws(DatabaseError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        if code != SQLITE_OK { throw error(code) }
    }

    package func prepare(_ sql: String) throws(DatabaseError) -> Statement { try Statement(sql, on: self) }

    /// The first column of the first row, or `nil` where there is none.
    package func integer(_ sql: String) throws(DatabaseError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// Whether no transaction is open. A failed statement may have ended the one that was.
    package var isAutocommit: Bool { sqlite3_get_autocommit(handle) != 0 }

    package enum Checkpoint {
        /// As much as can be done without waiting for another connection.
        case passive
        /// All of it, so that the next transaction begins the log anew. Waits up to 100 ms for reading and writing connections.
        case restart
        /// All of it, and gives the log's room back.
        case truncate
    }

    /// Its header says so, once that has been read, or the system.
    package var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    /// Writes the log back into the file.
    /// - Returns: whether nothing is left to be written back.
    @discardableResult
    package func checkpoint(_ kind: Checkpoint) throws(DatabaseError) -> Bool {
        let mode =
            switch kind {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .restart: SQLITE_CHECKPOINT_RESTART
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        if kind == .restart { sqlite3_busy_timeout(handle, 100) }
        defer { if kind == .restart { sqlite3_busy_timeout(handle, Self.busyMilliseconds) } }
        var (length, written) = (Int32(0), Int32(0))
        let code = sqlite3_wal_checkpoint_v2(handle, nil, mode, &length, &written)
        if code != SQLITE_OK { throw error(code) }
        if kind != .passive { logPages.pointee = 0 }
        return written == length
    }

    private static let busyMilliseconds: Int32 = 2000

    /// Gives back the memory of cached pages.
    package func releaseMemory() { sqlite3_db_release_memory(handle) }

    /// Do not write the log back and delete it when the last connection closes: the file is about to be moved, or goes on elsewhere.
    package func leaveLogOnClose() {
        // Only refused for a closed connection.
        _ = csqlite_configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    }

    /// SQLite's code and message for a failure of this connection, translated.
    package func error(_ code: Int32) -> DatabaseError {
        let systemError = sqlite3_system_errno(handle)
        return DatabaseError(
            DatabaseError.Code(extended: code, systemError: systemError), path: path,
            message: "\(String(cString: sqlite3_errmsg(handle))) (\(code), errno \(systemError))", resultCode: code)
    }

    private func configure(_ option: Int32, _ value: Int32) throws(DatabaseError) {
        let code = csqlite_configure(handle, option, value)
        if code != SQLITE_OK { throw error(code) }
    }

    private func apply(_ access: Access) throws(DatabaseError) {
        try execute("PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON; PRAGMA wal_autocheckpoint=0")
        switch access {
        // The upper pages of the indexes fit in; the system's own cache has the others.
        case .reading, .browsing: try execute("PRAGMA query_only=ON; PRAGMA cache_size=-2048")
        case .immutable: try execute("PRAGMA query_only=ON; PRAGMA cache_size=-8192")
        case .writing: try execute("PRAGMA synchronous=NORMAL; PRAGMA cache_size=-8192; PRAGMA secure_delete=FAST")
        case .checkpointing: try execute("PRAGMA synchronous=NORMAL; PRAGMA cache_size=-64")
        }
    }

    /// What SQLite takes from a file of unknown making, as its authors advise (sqlite.org/security.html). Our own statements need less.
    private func limitValues() {
        let limits: [(Int32, Int32)] = [
            (SQLITE_LIMIT_LENGTH, Self.valueLengthLimit), (SQLITE_LIMIT_SQL_LENGTH, 100_000), (SQLITE_LIMIT_COLUMN, 100),
            (SQLITE_LIMIT_EXPR_DEPTH, 10), (SQLITE_LIMIT_COMPOUND_SELECT, 3), (SQLITE_LIMIT_VDBE_OP, 25_000),
            (SQLITE_LIMIT_FUNCTION_ARG, 8), (SQLITE_LIMIT_ATTACHED, 0), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50),
            (SQLITE_LIMIT_VARIABLE_NUMBER, 10), (SQLITE_LIMIT_TRIGGER_DEPTH, 1),
        ]
        // Each returns the limit that was: none of them can fail.
        for (limit, value) in limits { sqlite3_limit(handle, limit, value) }
    }

    /// Bytes of one value or row of a file of unknown making.
    package static let valueLengthLimit: Int32 = 16 << 20

    /// A URI (sqlite.org/uri.html) by which neither locks nor a log are looked for beside the file.
    private static func immutableName(of path: String) -> String {
        var name = "file:"
        for octet in path.utf8 {
            let standsForItself = octet < 0x7F && octet > 0x20 && !"%?#".utf8.contains(octet)
            let digits = String(octet, radix: 16, uppercase: true)
            name += standsForItself ? String(UnicodeScalar(octet)) : "%" + (digits.utf8.count < 2 ? "0" : "") + digits
        }
        return name + "?immutable=1"
    }

    private static let library: Void = {
        // Refused (harmlessly) where SQLite is in use already.
        _ = csqlite_disable_memory_statistics()
        return ()
    }()
}

private func noteLogPages(
    _ place: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ pages: Int32
) -> Int32 {
    place?.assumingMemoryBound(to: Int32.self).pointee = pages
    return SQLITE_OK
}
