import ArgumentParser
import CommandSupport
import Foundation
import HTTPMessage
import ServerTrust
import Snapshots
import TextCoding

extension SnapshotCommand {
    struct Rematch: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rematch", abstract: "Apply match rules to a recording, and recompute its keys.",
            discussion: """
                The rules of FILE replace the snapshot's match rules; Larder sends no request. Put the match rule that a miss \
                report proposes into this file:

                  {"canonicalisers": [{"uri": "*", "query": {"ignore": ["_"]}}]}

                  larder snapshot rematch build.larder --match match.json

                If this command fails, the snapshot is unchanged. The new snapshot has no signatures: sign it again, or give \
                --sign-with. A warning lists requests that the rules treat as equal, although their responses have different \
                bodies.

                Exit codes: 0 success; 1 a file cannot be read or written, or the rules are malformed; 2 wrong usage; 5 the snapshot is damaged or \
                would contain secrets.
                """)

        @Argument(help: "A snapshot.")
        var file: String

        @Option(help: ArgumentHelp("The match rules in JSON, as `record --match` takes them.", valueName: "file"))
        var match: String

        @Option(
            name: [.customShort("o"), .customLong("output")],
            help: ArgumentHelp("The new snapshot. The default is to replace the old one.", valueName: "file"))
        var target: String?

        @Option(
            help: ArgumentHelp(
                "The project's key. Required if the rules declare secrets that the snapshot contains.", valueName: "file"))
        var key: String?

        @Option(help: ArgumentHelp("A private key in PEM that signs the new snapshot.", valueName: "file"))
        var signWith: String?

        func run() throws {
            try SnapshotFiles.run {
                let octets = try SnapshotFiles.octets(match)
                let terms = try SnapshotFiles.of(match) { try MatchTerms(text: octets) }
                try SnapshotFiles.of(match) { _ = try RequestMatcher(terms) }
                let signing = try SnapshotFiles.signingKey(signWith)
                let key = try key.map(ProjectKeyFile.read)
                let source = try SnapshotFiles.open(file)
                let place = target ?? file
                if target != nil, FileManager.default.fileExists(atPath: place) { throw SnapshotError.exists(path: place) }
                let result = try SnapshotFiles.of(file) {
                    try SnapshotMaintenance.rematch(source, by: terms, to: place, key: key, signing: signing)
                }
                SnapshotFiles.tellSignatures(of: source, at: place, signing)
                let made = try SnapshotFiles.open(place)
                for warning in try SnapshotFiles.of(place, { try made.matchWarnings() }) {
                    Terminal.talk("larder: warning: \(printable(warning.text, limit: 4096))\n")
                }
                var line = "applied the match rules to \(result.recordings) recording\(result.recordings == 1 ? "" : "s")"
                line += "; \(result.changed) key\(result.changed == 1 ? "" : "s") changed"
                if result.redacted > 0 {
                    line += "; replaced secrets in \(result.redacted) recording\(result.redacted == 1 ? "" : "s")"
                }
                Terminal.output("\(line)\ncontent \(Hexadecimal.encode(made.roots.content.octets))\n")
            }
        }
    }

    struct Edit: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "edit", abstract: "Replace bodies in a recording with edited bodies.",
            discussion: """
                Export the snapshot, change a body, and run `larder snapshot edit`:

                  larder snapshot export build.larder --text review
                  $EDITOR review/bodies/2cf2…a1.json
                  larder snapshot edit build.larder --changed review/bodies/2cf2…a1.json

                The body changes in every request and response that contains it. Digests, Content-Length and ETag are \
                recomputed. Content codings stay, so a compressed body must be compressed again. Recordings keep their order, \
                times and certificates.

                If this command fails, the snapshot is unchanged. The new snapshot has no signatures: sign it again, or give --sign-with.

                Exit codes: 0 success; 1 a file cannot be read or written, or is not an exported body of this snapshot; 2 wrong usage; 5 the \
                snapshot is damaged or would contain secrets.
                """)

        @Argument(help: "A snapshot.")
        var file: String

        @Option(
            help: ArgumentHelp(
                "An exported body that you have changed, or the exported folder for all changed bodies in it.",
                valueName: "path"))
        var changed: [String]

        @Flag(help: "Ignore suspected secrets.")
        var harmless = false

        @Option(help: ArgumentHelp("A private key in PEM that signs the new snapshot.", valueName: "file"))
        var signWith: String?

        func run() throws {
            try SnapshotFiles.run {
                let signing = try SnapshotFiles.signingKey(signWith)
                let source = try SnapshotFiles.open(file)
                let bodies = try changedBodies()
                if bodies.isEmpty {
                    Terminal.talk("larder: nothing changed: every body is the same as in the snapshot\n")
                    return Terminal.output("changed 0 bodies\n")
                }
                let result = try SnapshotFiles.of(file) {
                    try SnapshotMaintenance.edit(source, bodies, isHarmless: harmless, signing: signing)
                }
                SnapshotFiles.tellSignatures(of: source, at: file, signing)
                let roots = try SnapshotFiles.open(file).roots
                Terminal.output(
                    "changed \(Self.count(result.bodies, "body", "bodies")) in \(Self.count(result.recordings, "recording", "recordings"))\n"
                        + "content \(Hexadecimal.encode(roots.content.octets))\n"
                )
            }
        }

        private static func count(_ number: Int, _ one: String, _ several: String) -> String {
            "\(number) \(number == 1 ? one : several)"
        }

        /// The bodies that do not match the digests in their names.
        private func changedBodies() throws -> [SHA256Digest: [UInt8]] {
            var bodies: [SHA256Digest: [UInt8]] = [:]
            for path in changed {
                var isFolder: ObjCBool = false
                let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
                guard isThere else { throw unusable(path, "the file or folder does not exist") }
                guard isFolder.boolValue else {
                    try note(path, in: &bodies)
                    continue
                }
                let folder = URL(filePath: path).appending(path: "bodies").path
                guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
                    throw unusable(
                        path, "this folder contains no folder `bodies`; create it with `larder snapshot export --text`")
                }
                for name in names.sorted() { try note(folder + "/" + name, in: &bodies) }
            }
            return bodies
        }

        private func note(_ path: String, in bodies: inout [SHA256Digest: [UInt8]]) throws {
            let name = URL(filePath: path).lastPathComponent.prefix { $0 != "." }
            guard let digest = Hexadecimal.decode(String(name)).flatMap({ SHA256Digest($0) }) else {
                throw unusable(
                    path, "an exported body must keep its file name, which is its digest of 64 hexadecimal digits")
            }
            let octets: [UInt8]
            do throws(LocalFile.Unreadable) {
                octets = try LocalFile.bytes(at: path, atMost: Self.lengthLimit)
            } catch { throw unusable(path, "cannot read: \(error.reason)") }
            if SHA256Digest(of: octets) != digest { bodies[digest] = octets }
        }

        private func unusable(_ path: String, _ reason: String) -> ExitCode {
            Terminal.talk("larder: \(printable(path, limit: 4096)): \(reason)\n")
            return .failure
        }

        /// The longest body that can be edited, in bytes.
        private static let lengthLimit = 256 << 20
    }
}

extension SnapshotFiles {
    /// Reports that signatures were removed.
    fileprivate static func tellSignatures(of source: Snapshot, at path: String, _ key: SigningKey?) {
        guard !source.signers.isEmpty, key == nil else { return }
        let path = printable(path, limit: 4096)
        let count = source.signers.count
        Terminal.talk(
            "larder: \(count) signature\(count == 1 ? "" : "s") removed from \(path); sign the snapshot again with `larder snapshot sign`\n"
        )
    }
}
