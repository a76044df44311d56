import ArgumentParser
import CommandSupport
import ProxyAdmin

struct CacheVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Checks every checksum and the database; exit code 5 where something is wrong.",
        discussion: "SQLite's own check of the whole file is made where no Larder runs: it is one long look.")

    @OptionGroup var place: CachePlace

    @OptionGroup var format: OutputOption

    func run() throws {
        var isGood = false
        switch try place.open() {
        case .running(let larder):
            let answer = try larder.ask("POST", "verify", [("output", format.output.rawValue)])
            Terminal.output(answer)
            isGood = format.output == .text ? answer.hasPrefix("good:") : JSONAnswer(answer)["good"] as? Bool ?? false
        case .file(let file):
            try file.print(CacheAnswers.verification(file.source, isText: format.output == .text) { isGood = $0 })
        }
        if !isGood { throw ExitCode(5) }
    }
}
