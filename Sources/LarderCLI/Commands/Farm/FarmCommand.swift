import ArgumentParser

struct FarmCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "farm", abstract: "Manage a farm of Larders that share responses.",
        subcommands: [FarmStatusCommand.self, FarmKeyCommand.self])
}
