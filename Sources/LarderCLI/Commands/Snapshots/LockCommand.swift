import ArgumentParser
import CommandSupport
import Snapshots
import TextCoding

struct LockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Writes which answers a run or a snapshot got as a text of URLs and digests, or holds a snapshot against one.",
        discussion: """
            A lock is sorted text, to be committed: `METHOD URL STATUS sha256:DIGEST LENGTH` for each answer. `larder run --locked` holds a \
            run against it, `larder lock verify` a snapshot.
            """,
        subcommands: [LockWriteCommand.self, Verify.self])

    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Holds a snapshot against a lock; exit code 5 where its answers are not those that are locked.",
            discussion: """
                Each difference is a line: `-` what is locked, `+` what the snapshot has. What is locked and not in the snapshot counts too.

                Exit codes: 0 all is as it is locked; 5 something is not, or the snapshot is damaged; 1 where a file cannot be read.
                """)

        @Argument(help: "A lock, as `larder lock write` makes it.")
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
