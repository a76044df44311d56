import ArgumentParser
import HTTPCaching
import ProxyAdmin
import ResponseStore

/// Which stored response a verb is about.
struct ResponseChoice: ParsableArguments {
    @Argument(help: "The response's URL.")
    var url: String?

    @Option(help: ArgumentHelp("The response's row, as ls -o ndjson says it.", valueName: "number"))
    var row: Int64?

    func validate() throws {
        if (url == nil) == (row == nil) { throw ValidationError("Name a URL or a row.") }
        if let url, URLPattern(url)?.isExact != true { throw ValidationError("`\(printable(url))` is not one URL.") }
    }

    var parameters: [(String, String)] { row.map { [("row", "\($0)")] } ?? [("url", url ?? "")] }

    /// - Throws: exit code 1 after saying that there is none.
    func find(in file: StoreFileAccess) throws -> [FoundResponse] {
        let place = row.map { CacheSource.Place.row($0) } ?? url.flatMap { URLPattern($0) }.map { .url($0) }
        guard let place, let found = file.find(place), !found.isEmpty else {
            Terminal.talk("larder: no such response is stored\n")
            throw ExitCode.failure
        }
        return found
    }
}

struct CacheShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows a stored response's head and what is known of it, each variant.")

    @OptionGroup var choice: ResponseChoice
    @OptionGroup var place: CachePlace

    @Option(name: [.short, .long], help: "text or json.")
    var output = OutputForm.text

    @Flag(help: "Shows Set-Cookie too.")
    var secrets = false

    func run() throws {
        switch try place.open() {
        case .running(let larder):
            let shown = secrets ? [("secrets", "shown")] : []
            try larder.print("GET", "response", choice.parameters + shown + [("output", output.rawValue)])
        case .file(let file):
            let details = try choice.find(in: file).map { ResponseDetail($0, at: file.now, showsSecrets: secrets) }
            switch output {
            case .text: Terminal.output(details.map(\.text).joined(separator: "\n"))
            case .json: Terminal.output(JSONText.array(details.map(\.json)).written() + "\n")
            }
        }
    }
}

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
            "The octets from FIRST to LAST, counted from 0; or FIRST-, or the last -COUNT.", valueName: "first-last"))
    var range: String?

    func run() throws {
        switch try place.open() {
        case .running(let larder):
            try larder.print("GET", "body", choice.parameters + (range.map { [("range", $0)] } ?? []))
        case .file(let file):
            let found = try choice.find(in: file)[0]
            let octets: Range<UInt64>
            do throws(FoundResponse.Refusal) {
                octets = try found.octets(in: range)
            } catch {
                Terminal.talk("larder: \(error.sentence)\n")
                throw ExitCode.failure
            }
            try file.print(CacheAnswers.body(file.source, of: found.response, octets))
        }
    }
}
