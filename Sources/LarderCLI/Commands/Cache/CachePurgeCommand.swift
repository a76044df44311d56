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

            With --farm, the purge is for all nodes of the farm, and for the shared tier. The command returns when every node has confirmed \
            the purge, or has lost its lease: then no node serves a response from before the purge. Otherwise it exits with 1, and names \
            the nodes that have not confirmed.

              larder cache purge 'http://example.com/simple/*' --farm
            """)

    @OptionGroup var filter: FilterOptions
    @OptionGroup var place: CachePlace

    @Flag(help: "Make the responses stale instead of removing them: the next request validates them.")
    var soft = false

    @Flag(help: "Print the number of responses that match, without purging them.")
    var dryRun = false

    @Flag(help: "Purge the whole store. Required if no filter is given.")
    var all = false

    @Flag(help: "Purge the stores of all nodes of the farm, and the shared tier.")
    var farm = false

    @OptionGroup var format: OutputOption

    func validate() throws {
        if farm, dryRun { throw ValidationError("--farm and --dry-run cannot be combined") }
    }

    func run() throws {
        let filter = try filter.value()
        guard !filter.isEmpty || all || dryRun else {
            Terminal.talk("larder: without a filter, this command would purge the whole store; give --all\n")
            throw ExitCode(2)
        }
        if farm { return try purgeFarm(filter) }
        let count = dryRun ? try foretell(filter) : try purge(filter)
        switch format.output {
        case .text: Terminal.output("\(dryRun ? "would purge" : "purged") \(count)\n")
        case .json:
            let value = JSONText.object([("count", .number(count)), ("soft", .bool(soft)), ("dry_run", .bool(dryRun))])
            Terminal.output(value.written() + "\n")
        }
    }

    private func purgeFarm(_ filter: StoreFilter) throws {
        guard case .running(let larder) = try place.open() else {
            Terminal.talk("larder: --farm needs a running Larder with a shared tier\n")
            throw ExitCode.failure
        }
        let words = filter.parameters + [("soft", soft ? "yes" : "no"), ("all", all ? "yes" : "no")]
        let text = try larder.ask("POST", "purge_farm", words)
        let answer = JSONAnswer(text)
        if format.output == .json { Terminal.output(text.hasSuffix("\n") ? text : text + "\n") }
        if let nodes = answer["nodes"] as? Int, answer["done"] as? Bool == true {
            if format.output == .text { Terminal.output("purged on \(nodes) node\(nodes == 1 ? "" : "s")\n") }
            return
        }
        if let names = answer["unconfirmed"] as? [String] {
            Terminal.talk(
                "larder: these nodes have not confirmed the purge: \(names.map { printable($0) }.joined(separator: ", "))\n")
        } else {
            Terminal.talk("larder: the farm was not purged: \(printable(answer["reason"] as? String ?? "no reason was given"))\n")
        }
        throw ExitCode.failure
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
