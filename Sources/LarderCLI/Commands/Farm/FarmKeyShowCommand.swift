import ArgumentParser
import CommandSupport
import HTTPMessage
import LarderSettings
import ServerTrust
import SignedEntries
import TextCoding

extension FarmKeyCommand {
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show the ids, times and names of the keys; exits with 1 if a key file is not usable.",
            discussion: "The command prints no secrets. It also checks that no other user can read the files with secrets.")

        @OptionGroup var format: OutputOption
        @OptionGroup var place: FarmKeyPlace

        func run() throws {
            ProcessMemorySecrecy.begin()
            let folder = try place.value()
            var paths = FarmKeyPaths(folder: folder)
            // A node that only reads has no signing key.
            if let signing = paths.signing, !FarmKeyCommand.exists(signing) { paths.signing = nil }
            let files = try FarmKeyCommand.reading { () throws(FarmKeysUnusable) in try FarmKeyFiles(paths) }
            let now = FarmKeyCommand.now
            let current = files.farm.current(at: now).start
            let farm = files.farm.keys.map { Row(id: "\($0.id)", start: $0.start, current: current) }
            let signingStart = files.signing?.current(at: now).start ?? now
            let signing = files.signing?.keys.map { Row(id: "\($0.id)", start: $0.start, current: signingStart) } ?? []
            switch format.output {
            case .text: Terminal.output(text(files, farm, signing))
            case .json: Terminal.output(json(folder, files, farm, signing).written() + "\n")
            }
        }

        /// A farm key or a signing key.
        private struct Row {
            let id: String
            let start: Timestamp
            let state: String

            init(id: String, start: Timestamp, current: Timestamp) {
                self.id = id
                self.start = start
                state = start == current ? "current" : (start < current ? "former" : "next")
            }

            var line: String { "  \(id)  \(state)  from \(RFC3339Time.text(start))\n" }
            var json: JSONText {
                .object([("id", .string(id)), ("state", .string(state)), ("from", .string(RFC3339Time.text(start)))])
            }
        }

        private func text(_ files: FarmKeyFiles, _ farm: [Row], _ signing: [Row]) -> String {
            var text = "farm \(files.farm.farm)\nfarm keys\n" + farm.map(\.line).joined() + "signing keys\n"
            text += signing.isEmpty ? "  none: this node only reads\n" : signing.map(\.line).joined()
            text += "trusted keys\n" + files.trusted.signers.map { "  \($0.id)  \($0.label)\n" }.joined()
            if !files.trusted.revoked.isEmpty {
                text += "revoked keys\n" + files.trusted.revoked.map { "  \($0)\n" }.joined()
            }
            return text
        }

        private func json(_ folder: String, _ files: FarmKeyFiles, _ farm: [Row], _ signing: [Row]) -> JSONText {
            .object([
                ("folder", .string(folder)), ("farm", .string("\(files.farm.farm)")),
                ("farm_keys", .array(farm.map(\.json))), ("signing_keys", .array(signing.map(\.json))),
                (
                    "trusted_keys",
                    .array(
                        files.trusted.signers.map { .object([("id", .string("\($0.id)")), ("label", .string($0.label))]) })
                ),
                ("revoked_keys", .array(files.trusted.revoked.map { .string("\($0)") })),
            ])
        }
    }
}
