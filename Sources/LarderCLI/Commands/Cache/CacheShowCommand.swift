import ArgumentParser
import CommandSupport
import ProxyAdmin
import TextCoding

struct CacheShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the head and the metadata of a stored response, for each variant.")

    @OptionGroup var choice: ResponseChoice
    @OptionGroup var place: CachePlace

    @OptionGroup var format: OutputOption

    @Flag(help: "Show Set-Cookie fields too.")
    var secrets = false

    func run() throws {
        switch try place.open() {
        case .running(let larder):
            let shown = secrets ? [("secrets", "shown")] : []
            try larder.print("GET", "response", choice.parameters + shown + [("output", format.output.rawValue)])
        case .file(let file):
            let details = try choice.find(in: file).map { ResponseDetail($0, at: file.now, showsSecrets: secrets) }
            switch format.output {
            case .text: Terminal.output(details.map(\.text).joined(separator: "\n"))
            case .json: Terminal.output(JSONText.array(details.map(\.json)).written() + "\n")
            }
        }
    }
}
