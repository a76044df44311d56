import ArgumentParser
import CommandSupport
import ProxyAdmin

struct CacheCatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cat", abstract: "Writes a stored response's content to standard output, the newest variant's.",
        discussion:
            "Of a response that is stored in part, which `show` tells, it writes a range that is there, and nothing without --range."
    )

    @OptionGroup var choice: ResponseChoice
    @OptionGroup var place: CachePlace

    @Option(
        help: ArgumentHelp(
            "The bytes from FIRST to LAST, counted from 0; or FIRST-, or the last -COUNT.", valueName: "first-last"))
    var range: String?

    func run() throws {
        switch try place.open() {
        case .running(let larder):
            try larder.print("GET", "body", choice.parameters + (range.map { [("range", $0)] } ?? []))
        case .file(let file):
            let found = try choice.find(in: file)[0]
            let octets: Range<UInt64>
            do throws(FoundResponse.Refusal) {
                octets = try found.bytes(in: range)
            } catch {
                Terminal.talk("larder: \(error.sentence)\n")
                throw error.isOfRequest ? ExitCode(2) : ExitCode.failure
            }
            try file.print(CacheAnswers.body(file.source, of: found.response, octets))
        }
    }
}
