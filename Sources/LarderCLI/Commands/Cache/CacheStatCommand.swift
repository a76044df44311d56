import ArgumentParser
import ProxyAdmin

struct CacheStatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stat", abstract: "Show store totals by host, type and status.")

    @OptionGroup var filter: FilterOptions
    @OptionGroup var place: CachePlace

    @OptionGroup var format: OutputOption

    func run() throws {
        let filter = try filter.value()
        switch try place.open() {
        case .running(let larder): try larder.print("GET", "tally", filter.parameters + [("output", format.output.rawValue)])
        case .file(let file):
            try file.print(CacheAnswers.tally(file.source, filter, at: file.now, isText: format.output == .text))
        }
    }
}
