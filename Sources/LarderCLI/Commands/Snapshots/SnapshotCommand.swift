import ArgumentParser

struct SnapshotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot", abstract: "Inspect, verify, sign, compare, merge and edit recordings.",
        discussion: """
            A snapshot is one file of recorded exchanges, which `larder record` writes (docs/snapshot-format.md).

            Exit codes: 0 success; 1 a file cannot be read or written; 2 wrong usage; 5 a file is damaged, is not a snapshot, lacks a required \
            signature or would contain secrets; 6 diff finds a difference.
            """,
        subcommands: [
            Show.self, List.self, Verify.self, Sign.self, Diff.self, Merge.self, Collect.self, Export.self, Create.self,
            Rematch.self, Edit.self,
        ])
}
