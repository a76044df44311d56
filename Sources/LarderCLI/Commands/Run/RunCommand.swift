import ArgumentParser
import CommandEnvironment
import CommandSupport
import Foundation
import LarderSettings
import TextCoding

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs a command whose requests go through a Larder of its own.",
        discussion: """
            It sets for the command, and for nobody else, every variable by which programs are told of a proxy and of whom to \
            believe, and takes away what it made when the command ends. https is intercepted by an authority that lives as long.

              larder run -- curl https://example.com/
              larder run --summary -- npm install
              larder run --offline --strict -- make
              larder lock write -o build.lock -- make
              larder run --locked build.lock -- make

            Exit codes: the command's own, 128 and more where a signal ended it; 125 where Larder could not do its part, 126 and \
            127 where the command cannot be run or is not there; 4 with --strict, 5 with --locked. 2 for wrong usage.
            """)

    /// For a command that has done well without being let do all that it asked for.
    static let strictCode = ExitCode(4)

    /// For a command that has done well with answers that are not as locked.
    static let lockCode = ExitCode(5)

    @OptionGroup var shared: CommandOptions

    @Option(help: ArgumentHelp("The store's file, or :memory:.", valueName: "path"))
    var store: String?

    @Option(
        help: ArgumentHelp(
            "Exit code 5 where an answer is another one than this lock says, or stands in it not at all. Nothing comes from the store.",
            valueName: "file"))
    var locked: String?

    @Option(
        help: ArgumentHelp(
            "With --locked, the project's key, under which the lock was written; else .larder/project.key of the project.",
            valueName: "file"))
    var key: String?

    @Flag(help: "Goes through the Larder that runs, with its store and its settings.")
    var join = false

    @Flag(help: "Answers with what is stored, whatever its age, and with 504 for all else; nothing leaves.")
    var offline = false

    @Flag(help: "Leaves https alone: it goes through uncached, and no rule sees into it.")
    var noIntercept = false

    @Flag(
        help:
            "Exit with 4 if a request was denied or missed, if a tunnel was not intercepted, or if no request came through Larder, even if the command succeeded."
    )
    var strict = false

    @Flag(help: "Says at the end what was asked for, on standard error.")
    var summary = false

    @OptionGroup var options: SettingsOptions

    func validate() throws {
        if shared.command.isEmpty {
            throw ValidationError("Which command? It stands behind --, as in: larder run -- curl http://example.com/")
        }
        if locked != nil, join || offline || store != nil {
            throw ValidationError("--locked has every request go out: it goes with neither --join, --offline nor --store.")
        }
        if locked == nil, key != nil { throw ValidationError("--key is for --locked: else no secret is written anywhere.") }
        if join, strict || summary {
            throw ValidationError(
                "--summary and --strict do not go with --join: a running Larder does not count the requests of one command apart."
            )
        }
        if join, shared.policy != nil || store != nil || shared.log != nil || offline || noIntercept {
            throw ValidationError(
                "--policy, --store, --log, --offline and --no-intercept do not go with --join: the running Larder has its own.")
        }
    }

    func run() throws {
        let run = try CommandRun()
        defer { run.end() }
        if join {
            guard let larder = try? AttachedProxy(options.load(), over: run.environment, filesIn: .of(run.folder)) else {
                throw EphemeralProxy.failureCode  // it has said why
            }
            if larder.asksEverybody { throw EphemeralProxy.fail(EphemeralProxy.asking) }
            throw ExitCode(try run.run(shared.command, through: larder))
        }
        var terms = EphemeralProxy.Terms()
        terms.policy = shared.policy
        terms.store = store
        terms.log = shared.log
        terms.mode = offline ? .offline : nil
        terms.interceptsNobody = noIntercept
        terms.isCounted = summary || strict || offline || locked != nil
        let lockedRun = try locked.map { path throws(ExitCode) in try LockedRun(lock: path, in: run.folder) }
        if let lockedRun {
            let key = key ?? ProjectFolder()?.key
            lockedRun.set(&terms, key: key.map { URL(filePath: $0).path })
        }
        let larder = try EphemeralProxy(options, terms, in: run.folder)
        let code = Result { () throws(ExitCode) in try run.run(shared.command, through: larder) }
        let tally = larder.close()
        let unseen = UnobservedRun(tally, hasOwnNetwork: false, offersNetwork: false)
        if summary, let tally {
            let told = [unseen?.sentence, tally.untrustedRemark, tally.clearTextRemark, offline ? tally.offlineRemark : nil]
            let remarks = told.compactMap { $0 } + run.remarks(on: larder)
            Terminal.talk(RunSummary(tally: tally, remarks: remarks).text)
        } else if let unseen {
            Terminal.talk("larder: \(unseen.sentence)\n")
        }
        if offline, !summary, let remark = tally?.offlineRemark { Terminal.talk("larder: \(remark)\n") }
        let ended = try code.get()
        let isIncomplete = tally.map { $0.deniedCount + $0.missedCount + $0.uninspectedCount > 0 } ?? false
        if ended != 0 { throw ExitCode(ended) }
        if let lockedRun, let recording = larder.recordings.ended {
            let violations = try lockedRun.violations(recording, hasKey: larder.settings.recordings.key != nil)
            for violation in violations { Terminal.talk("larder: not as locked: \(printable(violation, limit: 16_384))\n") }
            if !violations.isEmpty { throw Self.lockCode }
        }
        if strict, let tally, isIncomplete {
            let uninspected = tally.uninspectedCount > 0 ? ", \(tally.uninspectedCount) not intercepted" : ""
            let counts = "\(tally.deniedCount) denied, \(tally.missedCount) missed\(uninspected)"
            if !summary { Terminal.talk("larder: \(counts) (--strict); --summary names them\n") }
            throw Self.strictCode
        }
        if strict, unseen?.failsStrict == true { throw Self.strictCode }
    }
}
