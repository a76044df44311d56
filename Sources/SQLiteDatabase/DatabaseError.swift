internal import CSQLite
internal import Glibc

/// What went wrong with a file of ours, or with one statement on it.
public struct DatabaseError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong.
    public enum Code: Sendable, Equatable {
        /// The file is not what was written: it has to be moved aside.
        case damaged
        /// No room on the disk, or a limit on the file's size.
        case diskFull
        /// Another connection holds what is needed.
        case busy
        /// A row has the place of another: that is one row's fault, not the file's.
        case constraint
        /// Another process has the file open.
        case lockedByProcess(Int32)
        /// The file was written by a newer version of Larder.
        case newerSchema(Int32)
        /// The file was written by an older version, and its role forbids changing it.
        case olderSchema(Int32)
        /// A database, but another application's.
        case foreignFile
        /// It cannot be opened or made.
        case cannotOpen
        /// It may only be read.
        case readOnly
        /// The disk, or what is between.
        case inputOutput
        /// It was told to end.
        case interrupted
        /// Anything else that SQLite reports.
        case failed
    }

    /// What went wrong.
    public let code: Code
    /// The file it concerns.
    public let path: String
    /// In words.
    public let message: String
    /// SQLite's extended result code, or 0.
    public let resultCode: Int32

    package init(_ code: Code, path: String, message: String, resultCode: Int32 = 0) {
        self.code = code
        self.path = path
        self.message = message
        self.resultCode = resultCode
    }

    /// Two are equal where their codes are.
    public static func == (left: DatabaseError, right: DatabaseError) -> Bool { left.code == right.code }

    public var description: String { "\(path): \(message)" }

    /// A failed system call.
    package init(systemCall: StaticString, path: String, code: Int32) {
        let isFull = code == ENOSPC || code == EDQUOT || code == EFBIG
        self.init(isFull ? .diskFull : .cannotOpen, path: path, message: "\(systemCall): \(String(cString: strerror(code)))")
    }
}

extension DatabaseError.Code {
    /// The one place that reads SQLite's result codes.
    /// - Parameters:
    ///   - extended: The extended result code.
    ///   - systemError: `errno` of the call behind it, where there was one.
    init(extended: Int32, systemError: Int32) {
        switch extended & 0xFF {
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_TOOBIG, SQLITE_FORMAT, SQLITE_MISMATCH: self = .damaged
        case SQLITE_CONSTRAINT: self = .constraint
        // Our statements fit our schema, which was compared: a logic error means that the schema's page has changed.
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
        // The extended codes are made by a macro that Swift does not import: SQLITE_IOERR | n << 8.
        switch extended >> 8 {
        case 2, 33: self = .damaged  // SHORT_READ, CORRUPTFS
        case 3, 6, 19, 21, 4, 24: self = DatabaseError.Code.isFull(systemError) ? .diskFull : .inputOutput
        default: self = .inputOutput
        }
    }

    private static func isFull(_ systemError: Int32) -> Bool {
        systemError == ENOSPC || systemError == EDQUOT || systemError == EFBIG
    }
}
