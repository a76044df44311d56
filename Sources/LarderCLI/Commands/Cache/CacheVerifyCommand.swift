import ArgumentParser
import CommandSupport
import ProxyAdmin

struct CacheVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify all checksums and the database; exits with 5 if a response or the database is damaged.",
        discussion: "If Larder is not running, SQLite also checks the whole file, which takes a long time.")

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
