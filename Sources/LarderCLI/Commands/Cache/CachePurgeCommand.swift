import ArgumentParser
import CommandSupport
import HTTPMessage
import ResponseStore
import TextCoding

struct CachePurgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge", abstract: "Remove stored responses or make them stale, and print their number.",
        discussion: """
            If Larder is not running, this command locks the store. A purge takes effect at once, before the responses are \
            deleted. If this command or Larder ends before the deletion, Larder deletes the responses the next time it runs.

              larder cache purge http://example.com/a.html
              larder cache purge 'http://example.com/simple/*' --soft
            """)

    @OptionGroup var filter: FilterOptions
    @OptionGroup var place: CachePlace

    @Flag(help: "Make the responses stale instead of removing them: the next request validates them.")
    var soft = false

    @Flag(help: "Print the number of responses that match, without purging them.")
    var dryRun = false

    @Flag(help: "Purge the whole store. Required if no filter is given.")
    var all = false

    @OptionGroup var format: OutputOption

    func run() throws {
        let filter = try filter.value()
        guard !filter.isEmpty || all || dryRun else {
            Terminal.talk("larder: without a filter, this command would purge the whole store; give --all\n")
            throw ExitCode(2)
        }
        let count = dryRun ? try foretell(filter) : try purge(filter)
        switch format.output {
        case .text: Terminal.output("\(dryRun ? "would purge" : "purged") \(count)\n")
        case .json:
            let value = JSONText.object([("count", .number(count)), ("soft", .bool(soft)), ("dry_run", .bool(dryRun))])
            Terminal.output(value.written() + "\n")
        }
    }

    private func foretell(_ filter: StoreFilter) throws -> Int {
        switch try place.open() {
        case .running(let larder):
            let all = JSONAnswer(try larder.ask("GET", "tally", filter.parameters + [("output", "json")]))["all"]
            return (all as? [String: Any])?["count"] as? Int ?? 0
        case .file(let file): return try file.count(filter)
        }
    }

    private func purge(_ filter: StoreFilter) throws -> Int {
        switch try place.open() {
        case .running(let larder):
            let words = filter.parameters + [("soft", soft ? "yes" : "no"), ("all", all ? "yes" : "no"), ("output", "json")]
            let lines = try larder.ask("POST", "purge", words).split(separator: "\n")
            guard let last = lines.last, let count = JSONAnswer(String(last))["count"] as? Int else {
                Terminal.talk("larder: the purge is in effect, but Larder did not report the number of purged responses\n")
                throw ExitCode.failure
            }
            return count
        case .file(let file): return try file.purge(filter, isSoft: soft)
        }
    }
}
