import ArgumentParser
import CommandEnvironment
import Foundation
import ProxyServer
import Recordings
import Snapshots

/// A run whose responses are compared with a lock file.
struct LockedRun {
    private let lock: LockFile
    private let run: ObservedRun

    /// - Throws: exit code 125, after reporting a problem with the lock file.
    init(lock path: String, in folder: PrivateFolder) throws(ExitCode) {
        do throws(LockFile.Unusable) {
            lock = try LockFile(path: path)
        } catch { throw EphemeralProxy.fail("\(error)") }
        run = ObservedRun(in: folder)
    }

    /// - Parameter key: the project's key; `nil`: the key in the settings.
    func set(_ terms: inout EphemeralProxy.Terms, key: String?) { run.set(&terms, by: "--locked", key: key) }

    /// - Returns: the responses that differ from the lock file, or that could not be recorded.
    func violations(
        _ ended: (file: RecordingFile, result: Result<SnapshotRoots?, SnapshotError>), hasKey: Bool
    ) throws(ExitCode) -> [String] {
        do throws(SnapshotError) {
            let answers = try run.answers(ended)
            let found = lock.violations(by: answers.lock, isWhole: false).filter { !isAskedAgain($0) }.map(\.text)
            let isByChance = !found.isEmpty && answers.holdsSecrets && !hasKey
            let hint =
                "? requests or responses contain secrets; give the project's key (--key), otherwise their digests differ in every run"
            return found + answers.gaps.map { "? \($0)" } + (isByChance ? [hint] : [])
        } catch {
            throw EphemeralProxy.fail("cannot compare the responses with the lock: \(error)")
        }
    }

    /// A repeated request that gets the same response again is no violation.
    private func isAskedAgain(_ violation: LockFile.Violation) -> Bool {
        guard case .added(let entry) = violation else { return false }
        return lock.entries.contains {
            $0.method == entry.method && $0.uri == entry.uri && $0.status == entry.status && $0.digest == entry.digest
        }
    }
}
