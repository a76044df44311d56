import ArgumentParser
import CommandSupport
import Foundation
import HTTPMessage
import Snapshots
import TextCoding

extension SnapshotCommand {
    struct Merge: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "merge", abstract: "Merge snapshots into one; later snapshots take precedence.",
            discussion:
                "The recordings of earlier snapshots stay as earlier generations. The first snapshot's match rules apply.")

        @Argument(help: "Snapshots, the oldest first.")
        var files: [String]

        @Option(name: [.customShort("o"), .customLong("output")], help: ArgumentHelp("The new snapshot.", valueName: "file"))
        var target: String

        @Option(help: ArgumentHelp("Sign the new snapshot with this private key, an Ed25519 key in PEM.", valueName: "file"))
        var signWith: String?

        func run() throws {
            try SnapshotFiles.run {
                // The files are opened before they are merged, so that an error names the file that cannot be opened.
                for file in files { _ = try SnapshotFiles.open(file) }
                let now = Timestamp(seconds: Int64(Date.now.timeIntervalSince1970))
                let roots = try SnapshotMaintenance.merge(
                    files, to: target, tool: SnapshotFiles.tool, now: now, signing: SnapshotFiles.signingKey(signWith))
                Terminal.output("content \(Hexadecimal.encode(roots.content.octets))\n")
            }
        }
    }

    struct Collect: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "gc",
            abstract: "Remove recordings that later generations have replaced; the root digest `content` does not change.",
            discussion: "This command removes the signatures, because the root digest `full` changes.")

        @Argument(help: "A snapshot.")
        var file: String

        @Option(help: ArgumentHelp("Sign the snapshot again with this private key, an Ed25519 key in PEM.", valueName: "file"))
        var signWith: String?

        func run() throws {
            try SnapshotFiles.run {
                let signer = try SnapshotFiles.signingKey(signWith)
                let count = try SnapshotFiles.of(file) { try SnapshotMaintenance.collect(file, signing: signer) }
                Terminal.output("removed \(count)\n")
            }
        }
    }

    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export", abstract: "Write a snapshot as a folder of text files, for review.",
            discussion:
                "larder snapshot create --from-text converts the folder back into a snapshot with the same root digests as the "
                + "original."
        )

        @Argument(help: "A snapshot.")
        var file: String

        @Option(help: ArgumentHelp("A folder that does not exist yet.", valueName: "folder"))
        var text: String

        func run() throws {
            try SnapshotFiles.run {
                let snapshot = try SnapshotFiles.open(file)
                try TextFolder.write(snapshot, to: text)
                Terminal.output("exported \(snapshot.count)\n")
            }
        }
    }

    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Create a snapshot from a text folder, an unfinished recording, or stored responses.",
            discussion: """
                --from-cache uses stored responses, and takes the filters of larder cache ls. It uses only complete responses to \
                requests without Authorization. Larder may be running.

                  larder snapshot create --from-cache -o shop.larder --host shop.example --status 200

                Larder searches the new snapshot for secrets. If it finds a secret in plain text, the command exits with 5 and creates no \
                snapshot, unless you give --harmless.
                """)

        @Option(help: ArgumentHelp("A folder that snapshot export wrote.", valueName: "folder"))
        var fromText: String?

        @Flag(help: "Finish the unfinished recording FILE.partial, where FILE is the file in -o.")
        var fromPartial = false

        @Flag(help: "Use stored responses.")
        var fromCache = false

        @OptionGroup(title: "Store options") var filter: FilterOptions
        @OptionGroup(title: "Store options") var place: CachePlace

        @Option(
            help: ArgumentHelp(
                "The project's key, with which Larder recognizes secrets in stored responses. It is created if necessary.",
                valueName: "file"
            ))
        var key: String?

        @Option(name: [.customShort("o"), .customLong("output")], help: ArgumentHelp("The new snapshot.", valueName: "file"))
        var target: String

        @Flag(help: "Ignore suspected secrets.")
        var harmless = false

        @Option(help: ArgumentHelp("Sign the new snapshot with this private key, an Ed25519 key in PEM.", valueName: "file"))
        var signWith: String?

        func validate() throws {
            guard [fromText != nil, fromPartial, fromCache].count(where: { $0 }) == 1 else {
                throw ValidationError("Give one of --from-text, --from-partial and --from-cache.")
            }
            if !fromCache, key != nil || filter.url != nil {
                throw ValidationError("Filters and --key need --from-cache.")
            }
        }

        func run() throws {
            try SnapshotFiles.run {
                let signer = try SnapshotFiles.signingKey(signWith)
                if let fromText {
                    _ = try TextFolder.read(fromText, to: target, signing: signer)
                } else if fromCache {
                    try recordStore(signing: signer)
                } else {
                    let partial = SnapshotWriter.partialPath(of: target)
                    _ = try SnapshotFiles.of(partial) { try SnapshotWriter(resuming: target).finish(signing: signer) }
                }
                let snapshot = try Snapshot(path: target)
                let places = try snapshot.secretPlaces()
                for place in places { Terminal.talk("larder: \(printable(place.description, limit: 4096))\n") }
                if !places.isEmpty, !harmless {
                    try FileManager.default.removeItem(atPath: target)
                    throw SnapshotError.holdsSecrets(
                        "no snapshot was created; if the listed values are not secrets, give --harmless")
                }
                Terminal.output("content \(Hexadecimal.encode(snapshot.roots.content.octets))\n")
            }
        }

        private func recordStore(signing signer: SigningKey?) throws {
            let filter = try filter.value()
            let file = try place.openFile()
            let key = try key.map(ProjectKeyFile.load) ?? .make()
            let writer = try SnapshotWriter(path: target, tool: SnapshotFiles.tool, now: file.now)
            do {
                let recorder = try SnapshotRecorder(writer, key: key)
                var recordings = StoredRecordings(file, to: recorder)
                try recordings.record(filter)
                _ = try recorder.finish(signing: signer)
                Terminal.talk("larder: added \(recordings.count) stored response\(recordings.count == 1 ? "" : "s")\n")
                for (reason, count) in recordings.leftOut.sorted(by: { $0.key < $1.key }) {
                    Terminal.talk("larder: stored responses left out, because \(reason): \(count)\n")
                }
            } catch {
                writer.abandon()
                throw error
            }
        }
    }
}
