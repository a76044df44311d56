import ArgumentParser
import CommandSupport
import PolicyTools
import TextCoding

extension PolicyCommand {
    struct Eval: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "eval", abstract: "Show the verdict of the rules on one request, and why.",
            discussion: """
                Reads only the settings; `larder explain` also looks into the store. Exits with 4 if the request is denied. For CONNECT, \
                give host:port instead of the URL.
                """)

        @Argument(help: "The method.")
        var method: String

        @Argument(help: "The URL.")
        var url: String

        @Option(
            name: [.customShort("H"), .long],
            help: ArgumentHelp("A request field, as 'Name: value'. Repeatable.", valueName: "field"))
        var header: [String] = []

        @OptionGroup var format: OutputOption

        @OptionGroup var options: SettingsOptions

        func run() throws {
            let policy = try options.load().settings.policy
            let request: PolicyRequest
            do throws(PolicyRequest.Fault) {
                request = try PolicyRequest(method, url, fields: header)
            } catch {
                Terminal.talk("larder: \(printable(error.reason, limit: 4096))\n")
                throw ExitCode(2)
            }
            let evaluation = PolicyEvaluation(request, under: policy)
            switch format.output {
            case .text: Terminal.output(evaluation.lines.map { printable($0, limit: 8192) + "\n" }.joined())
            case .json: Terminal.output(evaluation.json.written() + "\n")
            }
            if !evaluation.decision.isAllowed { throw Code.denied }
        }
    }
}
