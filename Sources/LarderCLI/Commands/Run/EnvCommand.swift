import ArgumentParser
import CommandEnvironment
import CommandSupport
import Foundation

struct EnvCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "env", abstract: "Print the environment variables that make programs use the running Larder.",
        discussion: """
            Some variables name files that this command writes, in $XDG_STATE_HOME/larder/clients, else \
            ~/.local/state/larder/clients, else in XDG_RUNTIME_DIR. If such a variable already named a file, the new file \
            begins with the contents of that file. You can evaluate the output repeatedly.

              eval "$(larder env)"
              larder env --shell fish | source
              larder env --shell pwsh | Out-String | Invoke-Expression
              docker build $(larder env --shell docker) .
              larder env --shell apt | sudo tee /etc/apt/apt.conf.d/90larder
            """)

    @Option(
        help: "The form: sh, fish, pwsh, json, dotenv, docker (build arguments), apt (apt.conf) or gradle (gradle.properties).")
    var shell = ShellSyntax.sh

    @OptionGroup var options: RunningOptions

    func run() throws {
        let given = ProcessInfo.processInfo.environment
        let larder = try AttachedProxy(options, over: given, filesIn: .user)
        if larder.asksEverybody { Terminal.talk("larder: \(EphemeralProxy.asking)\n") }
        Terminal.output(shell.text(larder.environment, over: given))
    }
}

extension ShellSyntax: ExpressibleByArgument {}
