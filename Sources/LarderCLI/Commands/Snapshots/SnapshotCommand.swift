import ArgumentParser

struct SnapshotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot", abstract: "Looks at recordings, checks, signs, compares, joins and writes them as text.",
        discussion: "A snapshot is one file of recorded exchanges (docs/snapshot-format.md).",
        subcommands: [
            Show.self, List.self, Verify.self, Sign.self, Diff.self, Merge.self, Collect.self, Export.self, Create.self,
        ])
}
