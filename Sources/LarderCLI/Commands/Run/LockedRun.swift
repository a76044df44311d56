import ArgumentParser
import CommandEnvironment
import Foundation
import ProxyServer
import Recordings
import Snapshots

/// A run whose answers are held against a lock.
struct LockedRun {
    private let lock: LockFile
    private let run: ObservedRun

    /// - Throws: 125, after saying what is wrong with the lock.
    init(lock path: String, in folder: PrivateFolder) throws(ExitCode) {
        do throws(LockFile.Unusable) {
            lock = try LockFile(path: path)
        } catch { throw EphemeralProxy.fail("\(error)") }
        run = ObservedRun(in: folder)
    }

    /// - Parameter key: the project's; `nil`: the one that the settings name.
    func set(_ terms: inout EphemeralProxy.Terms, key: String?) { run.set(&terms, by: "--locked", key: key) }

    /// - Returns: what was answered in another way than is locked, or could not be seen.
    func violations(
        _ ended: (file: RecordingFile, result: Result<SnapshotRoots?, SnapshotError>), hasKey: Bool
    ) throws(ExitCode) -> [String] {
        do throws(SnapshotError) {
            let answers = try run.answers(ended)
            let found = lock.violations(by: answers.lock, isWhole: false).filter { !isAskedAgain($0) }.map(\.text)
            let isByChance = !found.isEmpty && answers.holdsSecrets && !hasKey
            let hint = "? requests or responses contain secrets: without the project's key (--key) their digests differ each time"
            return found + answers.gaps.map { "? \($0)" } + (isByChance ? [hint] : [])
        } catch {
            throw EphemeralProxy.fail("cannot compare the responses with the lock: \(error)")
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
