import HTTPMessage
import SQLiteDatabase
import SecretScanning
import ServerTrust

/// Why a snapshot cannot be made, opened or read.
package enum SnapshotError: Error, Sendable, Equatable, CustomStringConvertible {
    /// SQLite or the file system failed.
    case database(DatabaseError)
    /// The file is not a snapshot of this version.
    case notASnapshot(String)
    /// The data differs from the data that was written or signed. None of it is replayed.
    case damaged(String)
    /// A limit in `SnapshotLimits` is exceeded.
    case tooLarge(String)
    /// The file exists, and the caller asked neither to append to it nor to overwrite it.
    case exists(path: String)
    /// The file exists and is not a recording, so it is not replaced.
    case notReplaced(path: String)
    /// A file that Larder did not write has a name that Larder needs.
    case inTheWay(path: String)
    /// An unfinished recording exists beside the file.
    case unfinished(path: String)
    /// There is no unfinished recording to resume.
    case nothingToResume(path: String)
    /// The requested generation does not exist.
    case noGeneration(UInt32, newest: UInt32)
    /// None of the required keys has signed the snapshot.
    case notSigned
    /// A key cannot be read, or is not Ed25519.
    case unusableKey(String)
    /// The data to be written contains secrets.
    case holdsSecrets(String)
    /// The content cannot be searched for secrets, because it is too long, or because its coding is unknown or truncated. So it is not
    /// kept.
    case unsearchable(String)
    /// No recording has the body with this digest.
    case noBody(String)
    /// No recording had been made by the requested time; `first` is the time at which the first generation began.
    case nothingRecordedYet(first: Timestamp)
    /// A text that Larder reads is malformed.
    case malformed(String)
    /// A text is not valid JSON at this line and column, which are counted from 1.
    case noJSON(line: Int, column: Int, String)

    package var description: String {
        switch self {
        case .database(let error) where error.code == .diskFull: "the disk is full: \(error.path)"
        case .database(let error): error.description
        case .notASnapshot(let detail): "not a snapshot: \(detail)"
        case .damaged(let detail): "damaged: \(detail)"
        case .tooLarge(let detail): "too large: \(detail)"
        case .exists(let path): "\(path) already exists"
        case .notReplaced(let path): "\(path) is not a recording of Larder, so Larder does not replace it; choose another file"
        case .inTheWay(let path):
            "\(path) is not a file of a recording, but Larder needs this name; rename this file, or choose another file for the recording"
        case .unfinished(let path): "\(path) is an unfinished recording"
        case .nothingToResume(let path): "\(path) does not exist, so there is no recording to resume"
        case .noGeneration(let number, let newest): "there is no generation \(number); the newest one is \(newest)"
        case .notSigned: "not signed by any of the required keys"
        case .unusableKey(let detail): "the key cannot be used: \(detail)"
        case .holdsSecrets(let detail): "contains secrets: \(detail)"
        case .unsearchable(let what): "\(what) cannot be searched for secrets, so Larder does not record it (record.unscanned)"
        case .noBody(let digest):
            "no recording has the body \(digest). The body was exported from another snapshot or before the latest edit; export the snapshot again."
        case .nothingRecordedYet(let first):
            // The time is rounded up, so that a user can request a replay with exactly the printed time.
            "nothing was recorded before the given time; the first generation began at "
                + POSIXTime(seconds: (first.milliseconds + 999) / 1000).rfc3339
        case .malformed(let detail): "malformed: \(detail)"
        case .noJSON(let line, let column, let reason): "\(line):\(column): \(reason)"
        }
    }
}

/// Runs a database operation and converts its errors.
@inline(__always)
func onDatabase<Result>(_ work: () throws(DatabaseError) -> Result) throws(SnapshotError) -> Result {
    do throws(DatabaseError) {
        return try work()
    } catch {
        throw .database(error)
    }
}

/// Compiles patterns or declared secrets, and converts the errors.
@inline(__always)
func onSecretScanning<Result>(_ work: () throws(SecretScanningError) -> Result) throws(SnapshotError) -> Result {
    do throws(SecretScanningError) {
        return try work()
    } catch {
        switch error {
        case .malformed(let detail): throw .malformed(detail)
        case .tooLarge(let detail): throw .tooLarge(detail)
        }
    }
}
