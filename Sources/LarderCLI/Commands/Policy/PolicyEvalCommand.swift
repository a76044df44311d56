import ArgumentParser
import CommandSupport
import HTTPMessage
import PolicyTools
import ProxyPolicy
import TextCoding

extension PolicyCommand {
    struct Eval: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "eval", abstract: "Show the verdict of the rules on one request, and why.",
            discussion: """
                Reads only the settings; `larder explain` also looks into the store. Exits with 4 if the request is denied, and with 2 if \
                `policy check` rejects the settings. For CONNECT, give host:port instead of the URL.

                Without --client, the client's address is unknown: `client` does not match in rules that allow, and matches in rules \
                that deny. Without --user, --certificate or --run, the conditions `user`, `certificate` and `run` match nothing.
                """)

        @Argument(help: "The method.")
        var method: String

        @Argument(help: "The URL.")
        var url: String?

        @Option(
            name: [.customShort("H"), .long],
            help: ArgumentHelp("A request field, as 'Name: value'. Repeatable.", valueName: "field"))
        var header: [String] = []

        @Option(
            help: ArgumentHelp("The client's address, for rules with `client`. The default is unknown.", valueName: "address"))
        var client: String?

        @Option(
            help: ArgumentHelp(
                "The user name with which the client has authenticated, for rules with `user`. The default is none.",
                valueName: "name"))
        var user: String?

        @Option(
            help: ArgumentHelp(
                "The subject or an alternative name of the client's certificate, for rules with `certificate`. Repeatable.",
                valueName: "name"))
        var certificate: [String] = []

        @Option(
            name: .customLong("run"),
            help: ArgumentHelp("The name of the client's `larder run`, for rules with `run`.", valueName: "name"))
        var runName: String?

        @OptionGroup var format: OutputOption

        @OptionGroup var options: SettingsOptions

        func validate() throws {
            if url == nil {
                throw ValidationError("Give the method and the URL, for example: larder policy eval GET https://example.com/")
            }
            if let client, IPAddress(client) == nil { throw ValidationError("'\(printable(client))' is not an IP address.") }
        }

        private var sender: ClientFacts {
            ClientFacts(
                address: client.flatMap { IPAddress($0) }, user: Array((user ?? "").utf8),
                certificateNames: certificate.map { Array($0.utf8) }, run: Array((runName ?? "").utf8))
        }

        func run() throws {
            let settings = try options.loadChecked().settings
            let request: PolicyRequest
            do throws(PolicyRequest.Fault) {
                request = try PolicyRequest(method, url ?? "", fields: header, from: sender)
            } catch {
                Terminal.talk("larder: \(printable(error.reason, limit: 4096))\n")
                throw ExitCode(2)
            }
            let evaluation = PolicyEvaluation(request, under: settings.policy, purgers: settings.clients.purge)
            switch format.output {
            case .text: Terminal.output(evaluation.lines.map { printable($0, limit: 8192) + "\n" }.joined())
            case .json: Terminal.output(evaluation.json.written() + "\n")
            }
            if !evaluation.isAllowed { throw Code.denied }
        }
    }
}
