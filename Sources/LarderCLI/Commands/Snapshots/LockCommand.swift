import ArgumentParser
import CommandSupport
import Snapshots
import TextCoding

struct LockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract:
            "Lock the responses of a run or snapshot: write their URLs and digests to a file, or verify a snapshot against this file.",
        discussion: """
            A lock file is sorted text that you can commit: `METHOD URL STATUS sha256:DIGEST LENGTH` for each response. `larder \
            run --locked` compares a run with it, and `larder lock verify` compares a snapshot with it.
            """,
        subcommands: [LockWriteCommand.self, Verify.self])

    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Verify a snapshot against a lock file; exits with 5 on a mismatch.",
            discussion: """
                Each difference is a line: `-` for the lock file, `+` for the snapshot. Locked responses that are not in the snapshot \
                are differences too.

                Exit codes: 0 no difference; 5 a difference, or a damaged snapshot; 1 a file cannot be read.
                """)

        @Argument(help: "A lock file, as `larder lock write` creates it.")
        var lock: String

        @Argument(help: "A snapshot.")
        var snapshot: String

        func run() throws {
            try SnapshotFiles.run {
                let locked: LockFile
                do throws(LockFile.Unusable) {
                    locked = try LockFile(path: lock)
                } catch {
                    Terminal.talk("larder: \(printable(error.description, limit: 4096))\n")
                    throw ExitCode.failure
                }
                let violations = locked.violations(by: try LockFile(of: SnapshotFiles.open(snapshot)))
                for violation in violations { Terminal.output(printable(violation.text, limit: 16_384) + "\n") }
                if !violations.isEmpty { throw ExitCode(5) }
            }
        }
    }
}
