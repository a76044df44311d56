import ArgumentParser
import ProxyAdmin

struct CacheCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "Lists, shows, purges and verifies what is stored.",
        discussion: """
            Asks the Larder that runs with these settings; where none runs, the store's file is read as it stands. See docs/cache.md.

              larder cache ls --host '*.example.com' --stale
              larder cache purge 'http://example.com/simple/*'
            """,
        subcommands: [
            CacheListCommand.self, CacheShowCommand.self, CacheCatCommand.self, CacheStatCommand.self, CachePurgeCommand.self,
            CacheVerifyCommand.self, CacheExportCommand.self,
        ])
}

struct CacheListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "Lists stored responses: status, freshness, size, age, type, URL.")

    @OptionGroup var filter: FilterOptions
    @OptionGroup var place: CachePlace

    @Option(name: [.short, .long], help: "text, json or ndjson.")
    var output = CacheOutput.text

    @Option(help: ArgumentHelp("At most so many.", valueName: "count"))
    var limit: Int?

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is 0 or more.") }
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

struct CacheStatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stat", abstract: "Says what stored responses come to, by host, type and status.")

    @OptionGroup var filter: FilterOptions
    @OptionGroup var place: CachePlace

    @Option(name: [.short, .long], help: "text or json.")
    var output = OutputForm.text

    func run() throws {
        let filter = try filter.value()
        switch try place.open() {
        case .running(let larder): try larder.print("GET", "tally", filter.parameters + [("output", output.rawValue)])
        case .file(let file):
            try file.print(CacheAnswers.tally(file.source, filter, at: file.now, isText: output == .text))
        }
    }
}

struct CacheVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Checks every checksum and the database; exit code 5 where something is wrong.",
        discussion: "SQLite's own check of the whole file is made where no Larder runs: it is one long look.")

    @OptionGroup var place: CachePlace

    @Option(name: [.short, .long], help: "text or json.")
    var output = OutputForm.text

    func run() throws {
        var isGood = false
        switch try place.open() {
        case .running(let larder):
            let answer = try larder.ask("POST", "verify", [("output", output.rawValue)])
            Terminal.output(answer)
            isGood = output == .text ? answer.hasPrefix("good:") : JSONAnswer(answer)["good"] as? Bool ?? false
        case .file(let file):
            try file.print(CacheAnswers.verification(file.source, isText: output == .text) { isGood = $0 })
        }
        if !isGood { throw ExitCode(5) }
    }
}

extension CacheOutput: ExpressibleByArgument {}
