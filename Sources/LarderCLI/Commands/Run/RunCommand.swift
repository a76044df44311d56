import ArgumentParser
import CommandEnvironment
import CommandSupport
import Foundation
import LarderSettings
import TextCoding

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run a command through its own temporary Larder.",
        discussion: """
            Sets the proxy and certificate variables for this command only. Larder deletes its temporary files when the command ends. \
            Larder intercepts https with a temporary CA.

              larder run -- curl https://example.com/
              larder run --summary -- npm install
              larder run --offline --strict -- make
              larder lock write -o build.lock -- make
              larder run --locked build.lock -- make

            Exit codes: the command's own, 128 and more if a signal ended it; 125 if Larder failed; 126 if the command cannot be executed, 127 if \
            it does not exist; 4 if a check of --strict fails; 5 if a check of --locked fails; 2 for wrong usage.
            """)

    /// The exit code if the command succeeded although requests were denied or missed.
    static let strictCode = ExitCode(4)

    /// The exit code if the command succeeded, but responses differ from the lock file.
    static let lockCode = ExitCode(5)

    @OptionGroup var shared: CommandOptions

    @Option(help: ArgumentHelp("The store file, or :memory:.", valueName: "path"))
    var store: String?

    @Option(
        help: ArgumentHelp(
            "Exit with 5 if any response differs from, or is missing in, this lock file. Every request is forwarded; the store is not used.",
            valueName: "file"))
    var locked: String?

    @Option(
        help: ArgumentHelp(
            "The project's key for --locked. It must be the key with which the lock file was written. The default is .larder/project.key in the project.",
            valueName: "file"))
    var key: String?

    @Option(help: ArgumentHelp("The name of this run, for rules with `run`.", valueName: "name"))
    var name: String?

    @Flag(help: "Use the running Larder, its store and its settings.")
    var join = false

    @Flag(help: "Serve stored responses of any age, respond with 504 to other requests, and forward no request.")
    var offline = false

    @Flag(help: "Do not intercept https: Larder opens tunnels, and cannot apply cache or rules to the requests in them.")
    var noIntercept = false

    @Flag(
        help:
            "Exit with 4, even if the command succeeded, if a request was denied, missed or not accepted. The same applies if a tunnel was not intercepted, or if no request came through Larder."
    )
    var strict = false

    @Flag(help: "Print a summary of the requests at the end, on standard error.")
    var summary = false

    @Flag(
        help: """
            Run the command in a network namespace where it can reach only Larder. Programs that ignore proxies also reach \
            Larder, at ports 80 and 443 of every address. The same rules apply.
            """)
    var netns = false

    @OptionGroup var options: SettingsOptions

    func validate() throws {
        if shared.command.isEmpty {
            throw ValidationError("Which command? Write it after --, for example: larder run -- curl http://example.com/")
        }
        if locked != nil, join || offline || store != nil {
            throw ValidationError("--locked forwards every request, so it cannot be used with --join, --offline or --store.")
        }
        if locked == nil, key != nil {
            throw ValidationError("--key needs --locked: Larder uses the key only to compare responses with a lock file.")
        }
        if join, strict || summary {
            throw ValidationError(
                "--summary and --strict cannot be used with --join: a running Larder does not count one command's requests separately."
            )
        }
        if join, netns {
            throw ValidationError(
                "--netns cannot be used with --join: the running Larder does not listen in the new network namespace.")
        }
        if join, shared.policy != nil || store != nil || name != nil || shared.log != nil || offline || noIntercept {
            throw ValidationError(
                "--policy, --store, --name, --log, --offline and --no-intercept cannot be used with --join: the running Larder has its own settings."
            )
        }
    }

    func run() throws {
        let run = try CommandRun()
        defer { run.end() }
        if join {
            guard let larder = try? AttachedProxy(options.load(), over: run.environment, filesIn: .of(run.folder)) else {
                throw EphemeralProxy.failureCode  // the reason was already reported
            }
            if larder.asksEverybody { throw EphemeralProxy.fail(EphemeralProxy.asking) }
            throw ExitCode(try run.run(shared.command, through: larder))
        }
        var terms = EphemeralProxy.Terms()
        terms.policy = shared.policy
        terms.store = store
        if let name { terms.settings.append(("--name", "clients.run", .plain(name))) }
        terms.log = shared.log
        terms.mode = offline ? .offline : nil
        terms.interceptsNobody = noIntercept
        terms.isCounted = summary || strict || offline || locked != nil
        let lockedRun = try locked.map { path throws(ExitCode) in try LockedRun(lock: path, in: run.folder) }
        if let lockedRun {
            let key = key ?? ProjectFolder()?.key
            lockedRun.set(&terms, key: key.map { URL(filePath: $0).path })
        }
        let network = try netns ? NetworkOptions.network(reaching: .everywhere, in: run.folder) : nil
        terms.network = network
        let larder = try EphemeralProxy(options, terms, in: run.folder)
        let code = Result { () throws(ExitCode) in try run.run(shared.command, through: larder, in: network) }
        let tally = larder.close()
        let unseen = UnobservedRun(tally, hasOwnNetwork: netns)
        if summary, let tally {
            let told =
                [unseen?.sentence, tally.untrustedRemark, tally.clearTextRemark, offline ? tally.offlineRemark : nil]
                + [network?.names?.denied.remark]
            let remarks = told.compactMap { $0 } + run.remarks(on: larder)
            Terminal.talk(RunSummary(tally: tally, remarks: remarks).text)
        } else if let unseen {
            Terminal.talk("larder: \(unseen.sentence)\n")
        }
        if offline, !summary, let remark = tally?.offlineRemark { Terminal.talk("larder: \(remark)\n") }
        let ended = try code.get()
        let hasDeniedNames = network?.names?.denied.names.isEmpty == false
        let isIncomplete =
            tally.map { $0.deniedCount + $0.missedCount + $0.uninspectedCount + $0.rejectedCount > 0 || hasDeniedNames } ?? false
        if ended != 0 { throw ExitCode(ended) }
        if let lockedRun, let recording = larder.recordings.ended {
            let violations = try lockedRun.violations(recording, hasKey: larder.settings.recordings.key != nil)
            for violation in violations {
                Terminal.talk("larder: differs from the lock: \(printable(violation, limit: 16_384))\n")
            }
            if !violations.isEmpty { throw Self.lockCode }
        }
        if strict, let tally, isIncomplete {
            let uninspected = tally.uninspectedCount > 0 ? ", \(tally.uninspectedCount) not intercepted" : ""
            let names = hasDeniedNames ? ", DNS names denied" : ""
            let rejected = tally.rejectedCount > 0 ? ", \(tally.rejectedCount) not accepted" : ""
            let counts = "\(tally.deniedCount) denied, \(tally.missedCount) missed\(uninspected)\(rejected)\(names)"
            if !summary { Terminal.talk("larder: \(counts) (--strict); to list these requests, use --summary\n") }
            throw Self.strictCode
        }
        if strict, unseen?.failsStrict == true { throw Self.strictCode }
    }
}
