import ArgumentParser
import CommandSupport
import HTTPMessage
import Snapshots
import TextCoding

extension SnapshotCommand {
    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Verify that a snapshot is undamaged; exits with 5 if it is damaged or lacks a required signature.")

        @Argument(help: "A snapshot.")
        var file: String

        @Option(
            help: ArgumentHelp("A public key in PEM. One of the given keys must have signed the snapshot.", valueName: "file"))
        var signedBy: [String] = []

        func run() throws {
            try SnapshotFiles.run {
                let snapshot = try SnapshotFiles.open(file, signedBy: SnapshotFiles.verifyingKeys(signedBy))
                let result = try SnapshotFiles.of(file) { try snapshot.verify() }
                let signers = snapshot.signers.count
                let signed = signers == 0 ? "not signed" : "signed with \(signers) key\(signers == 1 ? "" : "s")"
                Terminal.output(
                    "good: \(result.recordings) recordings; \(result.bodies) bodies, \(result.bodyOctets) bytes in total; \(signed)\n"
                )
            }
        }
    }

    struct Sign: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign", abstract: "Sign a snapshot with an Ed25519 key.",
            discussion: "To create a key: openssl genpkey -algorithm ed25519 -out signing.pem")

        @Argument(help: "A snapshot.")
        var file: String

        @Option(help: ArgumentHelp("Sign the snapshot with this private key, an Ed25519 key in PEM.", valueName: "file"))
        var signWith: String

        func run() throws {
            try SnapshotFiles.run {
                guard let key = try SnapshotFiles.signingKey(signWith) else { return }
                try SnapshotFiles.of(file) { try Snapshot.sign(path: file, by: key) }
                Terminal.output("signed by \(key.verifying)\n")
            }
        }
    }

    struct Diff: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "diff", abstract: "Show the responses that differ in two snapshots; exits with 6 if a response differs.",
            discussion: "The comparison ignores fields that change with each response, such as Date (docs/snapshot-format.md).")

        @Argument(help: "A snapshot.")
        var old: String

        @Argument(help: "The other snapshot.")
        var new: String

        func run() throws {
            try SnapshotFiles.run {
                let diff = try SnapshotDiff(from: SnapshotFiles.open(old), to: SnapshotFiles.open(new))
                for entry in diff.entries { Terminal.output(printable(entry.text, limit: 8192) + "\n") }
                if !diff.entries.isEmpty { throw ExitCode(6) }
            }
        }
    }
}
