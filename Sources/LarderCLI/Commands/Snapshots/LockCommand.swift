import ArgumentParser
import ProxyAdmin
import Snapshots

struct LockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Writes which answers a snapshot gives as a text of URLs and digests, or holds one against it.",
        subcommands: [Write.self, Verify.self])

    struct Write: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "write", abstract: "Prints the lock of a snapshot.")

        @Argument(help: "A snapshot.")
        var snapshot: String

        func run() throws { try SnapshotFiles.run { Terminal.output(try LockFile(of: Snapshot(path: snapshot)).text) } }
    }

    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify", abstract: "Exit code 5 where a snapshot answers with anything else than is locked.")

        @Argument(help: "A lock.")
        var lock: String

        @Argument(help: "A snapshot.")
        var snapshot: String

        func run() throws {
            try SnapshotFiles.run {
                let locked = try LockFile(parsing: String(decoding: SnapshotFiles.octets(lock), as: UTF8.self))
                let violations = locked.violations(by: try LockFile(of: Snapshot(path: snapshot)))
                for violation in violations { Terminal.output(printable(violation.text, limit: 16_384) + "\n") }
                if !violations.isEmpty { throw ExitCode(5) }
            }
        }
    }
}
