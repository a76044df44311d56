import ArgumentParser

struct PolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Check, evaluate, test and compare policies.",
        subcommands: [Check.self])
}
