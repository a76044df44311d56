import ArgumentParser
import CommandSupport
import Foundation
import HTTPMessage
import Snapshots
import TextCoding

extension SnapshotCommand {
    struct Merge: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "merge", abstract: "Makes one snapshot of several; the later ones answer first.",
            discussion: "What is older stays, as earlier generations. The canonicalisers of the first one hold.")

        @Argument(help: "Snapshots, the oldest first.")
        var files: [String]

        @Option(name: [.customShort("o"), .customLong("output")], help: ArgumentHelp("The new snapshot.", valueName: "file"))
        var target: String

        @Option(help: ArgumentHelp("Sign it with this private key, an Ed25519 key in PEM.", valueName: "file"))
        var signWith: String?

        func run() throws {
            try SnapshotFiles.run {
                // So that what is wrong with one of them is told with its name.
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
            commandName: "gc", abstract: "Takes out what later generations have replaced; the root `content` stays.",
            discussion: "Signatures go, since the root `full` is another one.")

        @Argument(help: "A snapshot.")
        var file: String

        @Option(help: ArgumentHelp("Sign it anew with this private key, an Ed25519 key in PEM.", valueName: "file"))
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
            commandName: "export", abstract: "Writes a snapshot as a folder of readable files, for review.",
            discussion: "snapshot create --from-text makes a snapshot with the same roots of it.")

        @Argument(help: "A snapshot.")
        var file: String

        @Option(help: ArgumentHelp("A folder that is not there yet.", valueName: "folder"))
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
            abstract: "Makes a snapshot of a folder of text, of a recording that was not finished, or of what is stored.",
            discussion: """
                Of the store, --from-cache takes what the filters say, as larder cache ls has them: whole responses, to requests without \
                Authorization. Larder may be running.

                  larder snapshot create --from-cache -o shop.larder --host shop.example --status 200

                What is made is searched for secrets once more: exit code 5 and no snapshot where one stands in the clear, unless \
                --harmless says that what is found is none.
                """)

        @Option(help: ArgumentHelp("A folder that snapshot export wrote.", valueName: "folder"))
        var fromText: String?

        @Flag(help: "Finishes FILE.partial.")
        var fromPartial = false

        @Flag(help: "Takes stored responses.")
        var fromCache = false

        @OptionGroup(title: "Of the store") var filter: FilterOptions
        @OptionGroup(title: "Of the store") var place: CachePlace

        @Option(
            help: ArgumentHelp(
                "The project's key, by which secrets of the store are known again; made where it is not there.", valueName: "file"
            ))
        var key: String?

        @Option(name: [.customShort("o"), .customLong("output")], help: ArgumentHelp("The new snapshot.", valueName: "file"))
        var target: String

        @Flag(help: "What is found and looks like a secret is none.")
        var harmless = false

        @Option(help: ArgumentHelp("Sign it with this private key, an Ed25519 key in PEM.", valueName: "file"))
        var signWith: String?

        func validate() throws {
            guard [fromText != nil, fromPartial, fromCache].count(where: { $0 }) == 1 else {
                throw ValidationError("Give one of --from-text, --from-partial and --from-cache.")
            }
            if !fromCache, key != nil || filter.url != nil {
                throw ValidationError("Filters and --key are for --from-cache.")
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
                    throw SnapshotError.holdsSecrets("nothing was made; --harmless where these are none")
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
                Terminal.talk("larder: \(recordings.count) taken from the store\n")
                for (reason, count) in recordings.leftOut.sorted(by: { $0.key < $1.key }) {
                    Terminal.talk("larder: left out, \(reason): \(count)\n")
                }
            } catch {
                writer.abandon()
                throw error
            }
        }
    }
}
