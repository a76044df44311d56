import ArgumentParser
import Foundation
import HTTPMessage
import ProxyAdmin
import Snapshots

extension SnapshotCommand {
    struct Merge: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "merge", abstract: "Makes one snapshot of several; the later ones answer first.",
            discussion: "What is older stays, as earlier generations. The canonicalisers of the first one hold.")

        @Argument(help: "Snapshots, the oldest first.")
        var files: [String]

        @Option(name: [.customShort("o"), .customLong("output")], help: ArgumentHelp("The new snapshot.", valueName: "file"))
        var target: String

        @Option(help: ArgumentHelp("A private key in PEM that signs it.", valueName: "file"))
        var key: String?

        func run() throws {
            try SnapshotFiles.run {
                let now = Timestamp(seconds: Int64(Date.now.timeIntervalSince1970))
                let roots = try SnapshotMaintenance.merge(
                    files, to: target, tool: SnapshotFiles.tool, now: now, signing: SnapshotFiles.signingKey(key))
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

        @Option(help: ArgumentHelp("A private key in PEM that signs it anew.", valueName: "file"))
        var key: String?

        func run() throws {
            try SnapshotFiles.run {
                let count = try SnapshotMaintenance.collect(file, signing: SnapshotFiles.signingKey(key))
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
                let snapshot = try Snapshot(path: file)
                try TextFolder.write(snapshot, to: text)
                Terminal.output("exported \(snapshot.count)\n")
            }
        }
    }

    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Makes a snapshot of a folder of text, or of a recording that was not finished.",
            discussion: """
                What is made is searched for secrets once more: exit code 5 and no snapshot where one stands in the clear, unless \
                --harmless says that what is found is none.
                """)

        @Option(help: ArgumentHelp("A folder that snapshot export wrote.", valueName: "folder"))
        var fromText: String?

        @Flag(help: "Finishes FILE.partial.")
        var fromPartial = false

        @Option(name: [.customShort("o"), .customLong("output")], help: ArgumentHelp("The new snapshot.", valueName: "file"))
        var target: String

        @Flag(help: "What is found and looks like a secret is none.")
        var harmless = false

        @Option(help: ArgumentHelp("A private key in PEM that signs it.", valueName: "file"))
        var key: String?

        func validate() throws {
            if (fromText == nil) != fromPartial { throw ValidationError("Give either --from-text or --from-partial.") }
        }

        func run() throws {
            try SnapshotFiles.run {
                let key = try SnapshotFiles.signingKey(key)
                if let fromText {
                    _ = try TextFolder.read(fromText, to: target, signing: key)
                } else {
                    _ = try SnapshotWriter(resuming: target).finish(signing: key)
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
    }
}
