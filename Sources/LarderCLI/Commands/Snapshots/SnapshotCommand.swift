import ArgumentParser

struct SnapshotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot", abstract: "Looks at recordings, checks, signs, compares, joins and writes them as text.",
        discussion: """
            A snapshot is one file of recorded exchanges, as `larder record` makes it (docs/snapshot-format.md).

            Exit codes: 0; 1 where a file cannot be read or written; 2 for wrong usage; 5 where a snapshot is damaged, is none, is not signed \
            as asked for or would hold secrets; 6 where diff finds a difference.
            """,
        subcommands: [
            Show.self, List.self, Verify.self, Sign.self, Diff.self, Merge.self, Collect.self, Export.self, Create.self,
            Rematch.self, Edit.self,
        ])
}
