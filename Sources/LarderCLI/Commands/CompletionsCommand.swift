import ArgumentParser
import CommandSupport
import Doctor

struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions", abstract: "Print shell completions.",
        discussion: "For example: larder completions bash > ~/.local/share/bash-completion/completions/larder")

    enum Shell: String, CaseIterable, ExpressibleByArgument { case bash, zsh, fish }

    @Argument(help: "The shell: bash, zsh or fish.")
    var shell: Shell

    func run() {
        let completions: CompletionShell =
            switch shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        Terminal.output(Larder.completionScript(for: completions) + "\n")
    }
}
