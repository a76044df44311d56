internal import CLarderSQLite

/// A prepared statement that is used repeatedly. Confined to its connection's thread.
///
/// Columns count from 0, parameters from 1, as in SQLite. A failed step resets the statement.
package final class Statement {
    package let connection: Connection
    private let handle: OpaquePointer

    package init(_ sql: String, on connection: Connection) throws(DatabaseError) {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw connection.error(code) }
        self.connection = connection
        handle = prepared
    }

    deinit { sqlite3_finalize(handle) }

    // MARK: Parameters

    package func bind(_ index: Int32, _ value: Int64) { check(sqlite3_bind_int64(handle, index, value)) }

    /// Binds a copy of the bytes.
    package func bind(_ index: Int32, copying bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { buffer in
            check(csqlite_bind_copied(handle, index, buffer.baseAddress, UInt64(buffer.count)))
        }
    }

    /// Binds bytes without copying them. They must stay valid and unchanged until `reset`.
    package func bind(_ index: Int32, borrowing bytes: UnsafeRawBufferPointer) {
        check(csqlite_bind_borrowed(handle, index, bytes.baseAddress, UInt64(bytes.count)))
    }

    // MARK: Running the statement

    /// - Returns: whether the statement has produced a row.
    package func step() throws(DatabaseError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let error = connection.error(code)
            sqlite3_reset(handle)
            throw error
        }
    }

    /// Runs to the end and resets the statement.
    package func run() throws(DatabaseError) {
        while try step() {}
        reset()
    }

    /// Resets the statement for its next use. Ends the read transaction if this was the last open statement.
    package func reset() {
        // The result is ignored: it is the code that `step` has already reported.
        sqlite3_reset(handle)
    }

    // MARK: Columns of the current row

    package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// - Returns: a copy; empty for NULL.
    package func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { [UInt8]($0) } }

    /// Calls `body` with the column's bytes, which are valid until the next step.
    package func withBytes<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let start = sqlite3_column_blob(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        return body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    package func text(_ column: Int32) -> String { withBytes(column) { String(decoding: $0, as: UTF8.self) } }

    private func check(_ code: Int32) {
        // An error here means that the code uses SQLite wrongly, that the index does not exist, or that memory is exhausted.
        // Exhausted memory ends the process elsewhere too.
        precondition(code == SQLITE_OK, "a parameter that does not fit its statement")
    }
}
