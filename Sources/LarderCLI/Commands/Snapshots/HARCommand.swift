import ArgumentParser
import CommandSupport
import Foundation
import HTTPMessage
import SecretScanning
import Snapshots
import TextCoding

struct HARCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "har", abstract: "Export a snapshot as HAR 1.2, or import a HAR file.",
        subcommands: [Export.self, Import.self])

    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export", abstract: "Print recordings as HAR 1.2.",
            discussion:
                "Writes to standard output. Bodies are decoded from gzip and other content codings, and written in base64.")

        @Argument(help: "A snapshot.")
        var snapshot: String

        @Option(help: ArgumentHelp("Export only this generation.", valueName: "number"))
        var generation: UInt32?

        func run() throws {
            try SnapshotFiles.run {
                let export = HARExport(try SnapshotFiles.open(snapshot), tool: (name: "larder", version: Version.number))
                let count = try export.write {
                    generation == nil || $0.generation == generation
                } to: {
                    Terminal.output(bytes: $0[...])
                }
                Terminal.talk("larder: exported \(count)\n")
            }
        }
    }

    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Create a snapshot from a HAR file; lists each omitted or changed entry with its index.",
            discussion: "As in any recording, placeholders replace secrets; Larder makes them with the project's key.")

        @Argument(help: "A HAR file.")
        var har: String

        @Option(name: [.customShort("o"), .customLong("output")], help: ArgumentHelp("The new snapshot.", valueName: "file"))
        var target: String

        @Option(help: ArgumentHelp("The project's key. It is created if necessary.", valueName: "file"))
        var key: String

        @Flag(help: "Append a generation to a snapshot that exists.")
        var append = false

        func run() throws {
            try SnapshotFiles.run {
                let input = try Self.opened(har)
                let key = try ProjectKeyFile.load(key)
                let writer = try SnapshotWriter(
                    path: target, existing: append ? .append : .refuse, tool: SnapshotFiles.tool,
                    now: Timestamp(seconds: Int64(Date.now.timeIntervalSince1970)))
                do {
                    let recorder = try SnapshotRecorder(writer, key: key)
                    let reader = HARImport(recorder)
                    try SnapshotFiles.of(har) {
                        while let piece = try input.read(upToCount: 1 << 20), !piece.isEmpty {
                            try reader.append([UInt8](piece).span)
                        }
                        try reader.finish()
                    }
                    _ = try recorder.finish()
                    for entry in reader.report.leftOut {
                        Terminal.talk("larder: entry \(entry.index) is left out: \(printable(entry.reason, limit: 1000))\n")
                    }
                    for entry in reader.report.changed {
                        Terminal.talk("larder: entry \(entry.index): \(printable(entry.reason, limit: 1000))\n")
                    }
                    Terminal.output("recorded \(reader.report.recorded), left out \(reader.report.leftOut.count)\n")
                } catch {
                    writer.abandon()
                    throw error
                }
            }
        }
    }
}

extension HARCommand.Import {
    /// - Throws: exit code 1, after reporting why the file cannot be read.
    fileprivate static func opened(_ path: String) throws(ExitCode) -> FileHandle {
        var facts = stat()
        let isFolder = stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
        if !isFolder, let handle = FileHandle(forReadingAtPath: path) { return handle }
        let reason = String(cString: strerror(isFolder ? EISDIR : errno))
        Terminal.talk("larder: cannot read \(printable(path, limit: 4096)): \(reason)\n")
        throw .failure
    }
}

/// The file with a project's key. It must not be committed.
enum ProjectKeyFile {
    static func read(_ path: String) throws -> ProjectKey {
        if let key = ProjectKey(text: try SnapshotFiles.octets(path)) { return key }
        Terminal.talk("larder: \(printable(path, limit: 4096)) does not contain a project's key (64 hexadecimal digits)\n")
        throw ExitCode.failure
    }

    /// Reads the key, or creates it for the owner alone.
    static func load(_ path: String) throws -> ProjectKey {
        if FileManager.default.fileExists(atPath: path) { return try read(path) }
        let key = ProjectKey.make()
        let file = try ExportedFile(path)
        file.write(key.text[...])
        try file.close()
        Terminal.talk("larder: created the project's key \(printable(path, limit: 4096)): do not commit it\n")
        return key
    }
}
