import ArgumentParser
import CommandSupport
import HTTPMessage
import ProxyServer
import Snapshots
import TextCoding

extension SnapshotCommand {
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show a snapshot's root digests, signatures, times and totals.")

        @Argument(help: "A snapshot.")
        var file: String

        @OptionGroup var format: OutputOption

        func run() throws {
            try SnapshotFiles.run {
                let snapshot = try SnapshotFiles.open(file)
                Terminal.output(format.output == .json ? json(snapshot).written() + "\n" : text(snapshot))
            }
        }

        private func text(_ snapshot: Snapshot) -> String {
            var lines = [
                "content     \(Hexadecimal.encode(snapshot.roots.content.octets))",
                "full        \(Hexadecimal.encode(snapshot.roots.full.octets))",
                "recordings  \(snapshot.count)",
                "written by  \(printable(snapshot.manifest.tool, limit: 200))",
            ]
            for generation in snapshot.manifest.generations {
                lines.append("generation  \(generation.number), started \(generation.started.rfc3339)")
            }
            lines += snapshot.signers.isEmpty ? ["signed by   none"] : snapshot.signers.map { "signed by   \($0)" }
            return lines.joined(separator: "\n") + "\n"
        }

        private func json(_ snapshot: Snapshot) -> JSONText {
            .object([
                ("content", .string(Hexadecimal.encode(snapshot.roots.content.octets))),
                ("full", .string(Hexadecimal.encode(snapshot.roots.full.octets))), ("recordings", .number(snapshot.count)),
                ("tool", .string(snapshot.manifest.tool)),
                (
                    "generations",
                    .array(
                        snapshot.manifest.generations.map {
                            .object([("number", .number(Int($0.number))), ("started", .string($0.started.rfc3339))])
                        })
                ),
                ("signed_by", .array(snapshot.signers.map { .string($0.description) })),
            ])
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ls", abstract: "List recordings, one on each line: generation, position, status, length, method, URL.",
            discussion: "For a GraphQL request, the operation's name follows the URL.")

        @Argument(help: "A snapshot.")
        var file: String

        func run() throws {
            try SnapshotFiles.run {
                let snapshot = try SnapshotFiles.open(file)
                for place in 0..<snapshot.count {
                    let recording = try snapshot.recording(at: place)
                    let answer =
                        recording.response.map { "\($0.status.code) \($0.body?.length ?? 0)" } ?? recording.failure?.kind.word
                        ?? "-"
                    let target = String(decoding: recording.request.method + [0x20] + recording.request.uri, as: UTF8.self)
                    let name = try snapshot.operationName(of: recording).map { "  (\(printable($0, limit: 200)))" } ?? ""
                    Terminal.output(
                        "\(recording.generation).\(recording.position) \(answer) \(printable(target, limit: 4096))\(name)\n")
                }
            }
        }
    }
}
