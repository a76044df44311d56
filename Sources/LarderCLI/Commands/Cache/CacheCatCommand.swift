import ArgumentParser
import CommandSupport
import ProxyAdmin

struct CacheCatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cat", abstract: "Write the content of a stored response (its newest variant) to standard output.",
        discussion:
            "If only a part of a response is stored, give a --range inside that part. `larder cache show` reports the part."
    )

    @OptionGroup var choice: ResponseChoice
    @OptionGroup var place: CachePlace

    @Option(
        help: ArgumentHelp(
            "The bytes to write: FIRST-LAST (the first byte is 0), FIRST- (to the end), or -COUNT (the last COUNT bytes).",
            valueName: "first-last"))
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
