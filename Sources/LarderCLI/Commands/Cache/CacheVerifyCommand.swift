import ArgumentParser
import CommandSupport
import ProxyAdmin

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
