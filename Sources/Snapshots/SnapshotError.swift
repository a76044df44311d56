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
    /// Not what was written, or not what was signed: nothing of it is served.
    case damaged(String)
    /// More than `SnapshotLimits` allow.
    case tooLarge(String)
    /// There is a file already, and it was not said what becomes of it.
    case exists(path: String)
    /// An unfinished recording exists beside the file.
    case unfinished(path: String)
    /// There is no unfinished recording to resume.
    case nothingToResume(path: String)
    /// The generation that is asked for does not exist.
    case noGeneration(UInt32, newest: UInt32)
    /// None of the keys that were asked for has signed it.
    case notSigned
    /// A key cannot be read, or is of another kind than Ed25519.
    case unusableKey(String)
    /// Secrets stand in what was to be written.
    case holdsSecrets(String)
    /// Content that cannot be looked through for secrets is not kept: it is too long, or in a coding that is not known or not whole.
    case unsearchable(String)
    /// No recording has the body with this digest.
    case noBody(String)
    /// Nothing had been recorded by the moment that is asked for: when the first generation began.
    case nothingRecordedYet(first: Timestamp)
    /// A text that was to be read is malformed.
    case malformed(String)
    /// A text stops being JSON at this line and column, both from 1.
    case noJSON(line: Int, column: Int, String)

    package var description: String {
        switch self {
        case .database(let error) where error.code == .diskFull: "the disk is full: \(error.path)"
        case .database(let error): error.description
        case .notASnapshot(let detail): "not a snapshot: \(detail)"
        case .damaged(let detail): "damaged: \(detail)"
        case .tooLarge(let detail): "too large: \(detail)"
        case .exists(let path): "\(path) already exists"
        case .unfinished(let path): "\(path) is an unfinished recording"
        case .nothingToResume(let path): "there is no \(path) to resume"
        case .noGeneration(let number, let newest): "there is no generation \(number); the newest one is \(newest)"
        case .notSigned: "not signed by any of the required keys"
        case .unusableKey(let detail): "the key cannot be used: \(detail)"
        case .holdsSecrets(let detail): "contains secrets: \(detail)"
        case .unsearchable(let what): "\(what) cannot be searched for secrets, so Larder does not record it (record.unscanned)"
        case .noBody(let digest):
            "no recording has the body \(digest): it was exported before the latest edit, or from another snapshot; export again"
        case .nothingRecordedYet(let first):
            // Rounded up, so that it can be asked for as it is written here.
            "nothing was recorded by then; the first generation began at \(POSIXTime(seconds: (first.milliseconds + 999) / 1000).rfc3339)"
        case .malformed(let detail): "malformed: \(detail)"
        case .noJSON(let line, let column, let reason): "\(line):\(column): \(reason)"
        }
    }
}

/// Carries out what SQLite is asked for, with its failures as the snapshot's.
@inline(__always)
func onDatabase<Result>(_ work: () throws(DatabaseError) -> Result) throws(SnapshotError) -> Result {
    do throws(DatabaseError) {
        return try work()
    } catch {
        throw .database(error)
    }
}

/// Reads patterns, and what is declared as secrets, with their failures as the snapshot's.
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
