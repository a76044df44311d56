import ArgumentParser
import CommandSupport
import HTTPMessage
import Snapshots
import TextCoding

extension SnapshotCommand {
    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Goes through all of a snapshot; exit code 5 where something is not as it was signed.")

        @Argument(help: "A snapshot.")
        var file: String

        @Option(help: ArgumentHelp("A public key in PEM; one of those that are named has to have signed it.", valueName: "file"))
        var signedBy: [String] = []

        func run() throws {
            try SnapshotFiles.run {
                let snapshot = try SnapshotFiles.open(file, signedBy: SnapshotFiles.verifyingKeys(signedBy))
                let result = try SnapshotFiles.of(file) { try snapshot.verify() }
                let signed = snapshot.signers.isEmpty ? "not signed" : "signed by \(snapshot.signers.count)"
                Terminal.output(
                    "good: \(result.recordings) recordings, \(result.bodies) bodies of \(result.bodyOctets) octets, \(signed)\n")
            }
        }
    }

    struct Sign: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign", abstract: "Signs a snapshot by an Ed25519 key.",
            discussion: "A key is made by: openssl genpkey -algorithm ed25519 -out signing.pem")

        @Argument(help: "A snapshot.")
        var file: String

        @Option(help: ArgumentHelp("Sign it with this private key, an Ed25519 key in PEM.", valueName: "file"))
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
            commandName: "diff", abstract: "Says what two snapshots answer differently; exit code 6 where there is anything.",
            discussion: "Fields that differ from one answer to the next, such as Date, do not count (docs/snapshot-format.md).")

        @Argument(help: "A snapshot.")
        var old: String

        @Argument(help: "Another one.")
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
