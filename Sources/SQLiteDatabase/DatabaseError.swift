internal import CLarderSQLite
internal import Glibc

/// An error that concerns one of Larder's database files, or one statement on such a file.
public struct DatabaseError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: Sendable, Equatable {
        /// The file's content is corrupt; it must be moved aside.
        case damaged
        /// The disk is full, or the file has reached a size limit.
        case diskFull
        /// Another connection holds a lock that is needed.
        case busy
        /// A row conflicts with another row. The file is not damaged.
        case constraint
        /// Another process has the file open.
        case lockedByProcess(Int32)
        /// The file was written by a newer version of Larder.
        case newerSchema(Int32)
        /// The file was written by an older version, and this access must not change it.
        case olderSchema(Int32)
        /// The file is a database of another application.
        case foreignFile
        /// The file cannot be opened or created.
        case cannotOpen
        /// The file is read-only.
        case readOnly
        /// The disk or the path to it failed.
        case inputOutput
        /// The operation was interrupted on request.
        case interrupted
        /// Any other error that SQLite reports.
        case failed
    }

    /// The kind of error.
    public let code: Code
    /// The path of the file.
    public let path: String
    /// A description of the error.
    public let message: String
    /// SQLite's extended result code, or 0.
    public let resultCode: Int32

    package init(_ code: Code, path: String, message: String, resultCode: Int32 = 0) {
        self.code = code
        self.path = path
        self.message = message
        self.resultCode = resultCode
    }

    /// Errors are equal if their codes are.
    public static func == (left: DatabaseError, right: DatabaseError) -> Bool { left.code == right.code }

    public var description: String { "\(path): \(message)" }

    /// The error for a failed system call.
    package init(systemCall: StaticString, path: String, code: Int32) {
        let isFull = code == ENOSPC || code == EDQUOT || code == EFBIG
        self.init(isFull ? .diskFull : .cannotOpen, path: path, message: "\(systemCall): \(String(cString: strerror(code)))")
    }
}

extension DatabaseError.Code {
    /// Maps SQLite's result codes. No other code interprets them.
    /// - Parameters:
    ///   - extended: the extended result code.
    ///   - systemError: `errno` of the underlying system call, if there was one.
    init(extended: Int32, systemError: Int32) {
        switch extended & 0xFF {
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_TOOBIG, SQLITE_FORMAT, SQLITE_MISMATCH: self = .damaged
        case SQLITE_CONSTRAINT: self = .constraint
        // Larder's statements match the schema, which was checked when the file was opened. So an SQL error means that the page with the
        // schema was damaged since then.
        case SQLITE_ERROR: self = .damaged
        case SQLITE_FULL: self = .diskFull
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
        case SQLITE_CANTOPEN: self = .cannotOpen
        case SQLITE_READONLY: self = .readOnly
        case SQLITE_INTERRUPT: self = .interrupted
        case SQLITE_IOERR: self = DatabaseError.Code(inputOutput: extended, systemError: systemError)
        default: self = .failed
        }
    }

    private init(inputOutput extended: Int32, systemError: Int32) {
        // These numbers are the `n` in the extended codes `SQLITE_IOERR | n << 8`, whose macros Swift does not import.
        switch extended >> 8 {
        case 2, 33: self = .damaged  // IOERR_SHORT_READ, IOERR_CORRUPTFS
        case 3, 6, 19, 21, 4, 24: self = DatabaseError.Code.isFull(systemError) ? .diskFull : .inputOutput
        default: self = .inputOutput
        }
    }

    private static func isFull(_ systemError: Int32) -> Bool {
        systemError == ENOSPC || systemError == EDQUOT || systemError == EFBIG
    }
}
