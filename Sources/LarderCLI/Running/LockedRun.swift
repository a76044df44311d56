import ArgumentParser
import Foundation
import ProxyAdmin
import ProxyServer
import Snapshots

/// A run whose answers are held against a lock: it is recorded for that, into a file that goes with it.
struct LockedRun {
    private let lock: LockFile
    private let path: String

    /// - Throws: 125, after saying what is wrong with the lock.
    init(lock lockPath: String, in folder: PrivateFolder) throws(ExitCode) {
        path = "\(folder.path)/run.larder"
        guard let text = FileManager.default.contents(atPath: lockPath) else {
            throw PrivateLarder.fail("cannot read the lock \(lockPath)")
        }
        do throws(SnapshotError) {
            lock = try LockFile(parsing: String(decoding: text, as: UTF8.self))
        } catch { throw PrivateLarder.fail("\(lockPath): \(error)") }
    }

    /// Every request goes out: what is stored is no answer of the origin's.
    func set(_ terms: inout PrivateLarder.Terms) {
        terms.store = ":memory:"
        terms.mode = .record
        terms.settings.append(("--locked", "record.file", .plain(path)))
    }

    /// - Returns: what was answered in another way than is locked, or could not be seen.
    func violations(_ ended: (file: RecordingFile, result: Result<SnapshotRoots?, SnapshotError>)) throws(ExitCode) -> [String] {
        let summary = ended.file.summary
        do throws(SnapshotError) {
            _ = try ended.result.get()
            let run = try LockFile(of: Snapshot(path: path))
            let unseen =
                summary.tunnels.map { "? \($0): a tunnel" } + summary.unrecorded.map { "? \($0.url): \($0.reason)" }
                + (summary.failure.map { ["? \($0)"] } ?? [])
            return lock.violations(by: run, isWhole: false).filter { !isAskedAgain($0) }.map(\.text) + unseen
        } catch {
            throw PrivateLarder.fail("what was answered cannot be held against the lock: \(error)")
        }
    }

    /// The same answer once more is nothing new.
    private func isAskedAgain(_ violation: LockFile.Violation) -> Bool {
        guard case .added(let entry) = violation else { return false }
        return lock.entries.contains {
            $0.method == entry.method && $0.uri == entry.uri && $0.status == entry.status && $0.digest == entry.digest
        }
    }
}
