internal import CLarderSQLite

/// One connection to a SQLite file. Confined to the thread that created it.
///
/// It closes when it and its last statement are released.
package final class Connection {
    package enum Access {
        case reading, writing, checkpointing
        /// Reads a file without changing it, not even when the connection closes: the write-ahead log stays as it is.
        case browsing
        /// Reads a complete file that does not change, in a directory that may be read-only. Its content is not trusted (threat T46).
        case immutable
    }

    package let path: String
    let handle: OpaquePointer
    /// The number of pages in the log after the latest commit, set by SQLite's hook.
    private let logPages: UnsafeMutablePointer<Int32>

    /// Opens the file with the settings that all of Larder's connections use. The file must exist.
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
        // Disables views, triggers and functions that a hostile or damaged schema could contain.
        try configure(SQLITE_DBCONFIG_DEFENSIVE, 1)
        try configure(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        try configure(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        try configure(SQLITE_DBCONFIG_ENABLE_VIEW, 0)
        // The limits are set before any content of the file is read.
        if access == .immutable { limitValues() }
        sqlite3_busy_timeout(handle, Self.busyMilliseconds)
        try apply(access)
        // The hook is set last, because setting automatic checkpoints removes it.
        sqlite3_wal_hook(handle, noteLogPages, logPages)
    }

    deinit {
        // All statements are already released, because each statement retains its connection.
        sqlite3_close_v2(handle)
        logPages.deallocate()
    }

    /// The length of the log in bytes after the latest commit of this connection.
    package var logLength: Int { Int(logPages.pointee) * Connection.pageLength }

    package static let pageLength = 8192

    /// Runs one or several statements and ignores their rows.
    package func execute(_ sql: String) throws(DatabaseError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        if code != SQLITE_OK { throw error(code) }
    }

    package func prepare(_ sql: String) throws(DatabaseError) -> Statement { try Statement(sql, on: self) }

    /// The first column of the first row, or `nil` if there is no row.
    package func integer(_ sql: String) throws(DatabaseError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// Whether no transaction is open. A failed statement may have ended an open one.
    package var isAutocommit: Bool { sqlite3_get_autocommit(handle) != 0 }

    package enum Checkpoint {
        /// Writes back as much of the log as possible without waiting for another connection.
        case passive
        /// Writes back the whole log, so that the next transaction writes at the log's start again. Waits up to 100 ms for other readers
        /// and writers.
        case restart
        /// Writes back the whole log, and truncates it.
        case truncate
    }

    /// Whether the file is read-only, because of its header (if the header was read) or because of the system.
    package var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    /// Writes the log back into the file.
    /// - Returns: whether the whole log was written back.
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

    /// Frees the memory of cached pages.
    package func releaseMemory() { sqlite3_db_release_memory(handle) }

    /// Prevents this connection from writing back and deleting the log when it is the last to close. Used if the file is about to be
    /// moved, or if other connections still use it.
    package func leaveLogOnClose() {
        // This call fails only for a closed connection.
        _ = csqlite_configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    }

    /// Translates SQLite's code and message for a failure of this connection.
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
        // These 2 MiB are enough to cache the upper pages of the indexes. The system's page cache has the other pages.
        case .reading, .browsing: try execute("PRAGMA query_only=ON; PRAGMA cache_size=-2048")
        case .immutable: try execute("PRAGMA query_only=ON; PRAGMA cache_size=-8192")
        case .writing: try execute("PRAGMA synchronous=NORMAL; PRAGMA cache_size=-8192; PRAGMA secure_delete=FAST")
        case .checkpointing: try execute("PRAGMA synchronous=NORMAL; PRAGMA cache_size=-64")
        }
    }

    /// Limits for an untrusted file, as SQLite's authors advise (sqlite.org/security.html). Larder's own statements need less.
    private func limitValues() {
        let limits: [(Int32, Int32)] = [
            (SQLITE_LIMIT_LENGTH, Self.valueLengthLimit), (SQLITE_LIMIT_SQL_LENGTH, 100_000), (SQLITE_LIMIT_COLUMN, 100),
            (SQLITE_LIMIT_EXPR_DEPTH, 10), (SQLITE_LIMIT_COMPOUND_SELECT, 3), (SQLITE_LIMIT_VDBE_OP, 25_000),
            (SQLITE_LIMIT_FUNCTION_ARG, 8), (SQLITE_LIMIT_ATTACHED, 0), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50),
            (SQLITE_LIMIT_VARIABLE_NUMBER, 10), (SQLITE_LIMIT_TRIGGER_DEPTH, 1),
        ]
        // Each call returns the previous limit, and cannot fail.
        for (limit, value) in limits { sqlite3_limit(handle, limit, value) }
    }

    /// The maximum size in bytes of one value or row in an untrusted file.
    package static let valueLengthLimit: Int32 = 16 << 20

    /// A URI (sqlite.org/uri.html) with which SQLite uses neither locks nor a log beside the file.
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
        // This fails if SQLite is already in use, which does no harm.
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
