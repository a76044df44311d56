import ArgumentParser
import ProxyAdmin

struct CacheListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "List stored responses: status, freshness, size, age, type, URL.")

    @OptionGroup var filter: FilterOptions
    @OptionGroup var place: CachePlace

    @Option(name: [.short, .long], help: "The format: text, json or ndjson.")
    var output = CacheOutput.text

    @Option(help: ArgumentHelp("The maximum number of responses to list.", valueName: "count"))
    var limit: Int?

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must be 0 or more.") }
    }

    func run() throws {
        let filter = try filter.value()
        switch try place.open() {
        case .running(let larder):
            let limits = limit.map { [("limit", "\($0)")] } ?? []
            try larder.print("GET", "entries", filter.parameters + limits + [("output", output.rawValue)])
        case .file(let file):
            try file.print(CacheAnswers.list(file.source, filter, at: file.now, output, limit: limit))
        }
    }
}

extension CacheOutput: ExpressibleByArgument {}
