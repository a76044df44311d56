import ArgumentParser
import Foundation
import ProxyAdmin

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs a command whose requests go through a Larder of its own.",
        discussion: """
            It sets for the command, and for nobody else, every variable by which programs are told of a proxy and of whom to \
            believe, and takes away what it made when the command ends. https is intercepted by an authority that lives as long.

              larder run -- curl https://example.com/
              larder run --summary -- npm install
              larder run --offline --strict -- make

            Exit codes: the command's own, 128 and more where a signal ended it; 125 where Larder could not do its part, 126 and \
            127 where the command cannot be run or is not there; 4 with --strict. 2 for wrong usage.
            """)

    /// For a command that has done well without being let do all that it asked for.
    static let strictCode = ExitCode(4)

    @Option(help: ArgumentHelp("Settings that take the place of the settings file's: rules, hosts.", valueName: "file"))
    var policy: String?

    @Option(help: ArgumentHelp("The store's file, or :memory:.", valueName: "path"))
    var store: String?

    @Option(help: ArgumentHelp("Writes the access log there.", valueName: "file"))
    var log: String?

    @Flag(help: "Goes through the Larder that runs, with its store and its settings.")
    var join = false

    @Flag(help: "Answers with what is stored, whatever its age, and with 504 for all else; nothing leaves.")
    var offline = false

    @Flag(help: "Leaves https alone: it goes through uncached, and no rule sees into it.")
    var noIntercept = false

    @Flag(help: "Exit code 4 where a request was denied or missed, though the command has done well.")
    var strict = false

    @Flag(help: "Says at the end what was asked for, on standard error.")
    var summary = false

    @OptionGroup var options: SettingsOptions

    @Argument(parsing: .postTerminator, help: ArgumentHelp("The command and its words.", valueName: "command"))
    var command: [String] = []

    func validate() throws {
        if command.isEmpty {
            throw ValidationError("Which command? It stands behind --, as in: larder run -- curl http://example.com/")
        }
        if join, policy != nil || store != nil || log != nil || offline || noIntercept || strict || summary {
            throw ValidationError(
                "--join goes through a Larder that has settings, store and log of its own: say those to that one.")
        }
    }

    func run() throws {
        // Before anything is changed, and any thread is made.
        let given = GivenState()
        ProcessMemorySecrecy.begin(hasChild: true)
        let signals = RunSignals(given.signals)
        let environment = ProcessInfo.processInfo.environment
        guard let folder = PrivateFolder(environment) else {
            throw PrivateLarder.fail("there is no place for temporary files: neither TMPDIR nor /tmp can be written to")
        }
        signals.sweep(folder)
        defer { folder.remove() }
        if join {
            guard let larder = try? JoinedLarder(options, over: environment, filesIn: .of(folder)) else {
                throw PrivateLarder.failureCode  // it has said why
            }
            if larder.asksEverybody { throw PrivateLarder.fail(PrivateLarder.asking) }
            let joined = larder.environment
            Self.warn(of: OtherProxies(environment))
            throw ExitCode(try Self.run(command, joined.values(over: environment), given, signals))
        }
        var terms = PrivateLarder.Terms()
        terms.policy = policy
        terms.store = store
        terms.log = log
        terms.isOffline = offline
        terms.interceptsNobody = noIntercept
        terms.isCounted = summary || strict
        let larder = try PrivateLarder(options, terms, in: folder)
        let code = Result { () throws(ExitCode) in
            let variables = try set(larder, folder, over: environment)
            return try Self.run(command, variables, given, signals)
        }
        let tally = larder.close()
        if summary, let tally { Terminal.talk(RunSummary(tally: tally, remarks: remarks(larder, environment)).text) }
        let ended = try code.get()
        let isIncomplete = tally.map { $0.deniedCount + $0.missedCount > 0 } ?? false
        if ended != 0 { throw ExitCode(ended) }
        if strict, isIncomplete { throw Self.strictCode }
    }

    /// Writes the files that the variables name.
    /// - Returns: what is set for the command.
    private func set(
        _ larder: PrivateLarder, _ folder: PrivateFolder, over given: [String: String]
    ) throws(ExitCode) -> [String: String] {
        let files = ClientFiles(folder: folder.path)
        let former = FormerVariables(given, behind: files)
        let trust = ClientTrust(larder.settings.tls, environment: former.values)
        let environment = ClientEnvironment(proxy: larder.address, files: files, carriesTrust: !trust.isEmpty)
        do throws(WholeFile.Unwritten) {
            try ClientFolder(environment, trust: trust, former: former).fill(folder)
        } catch {
            throw PrivateLarder.fail("cannot write to \(folder.path): \(error.reason)")
        }
        let others = OtherProxies(given)
        if larder.settings.upstream.proxy == nil, let name = others.replaced(by: environment).first {
            Terminal.talk(
                "larder: the proxy that \(name) names is not gone through: upstream.proxy names the one that Larder goes through\n"
            )
        }
        Self.warn(of: others)
        var variables = environment.values(over: given)
        // So that larder status, and explain, speak to this one.
        if let socket = larder.adminSocket { variables["LARDER_ADMIN_SOCKET"] = socket }
        return variables
    }

    private static func warn(of others: OtherProxies) {
        for name in others.stronger {
            Terminal.talk("larder: \(printable(name)) goes before what is set here: who reads it may go past Larder, uncounted\n")
        }
    }

    /// - Returns: the command's exit code.
    private static func run(
        _ command: [String], _ variables: [String: String], _ given: GivenState, _ signals: RunSignals
    ) throws(ExitCode) -> Int32 {
        do throws(ChildProcess.Failure) {
            return try ChildProcess(command, changing: variables, given: given, signals: signals).waitForEnd()
        } catch {
            let name = printable(command[0], limit: 4096)
            switch error {
            case .missing:
                Terminal.talk("larder: \(name): there is no such command\n")
                throw ExitCode(ProgramSearch.missingCode)
            case .notExecutable(let reason):
                Terminal.talk("larder: \(name): \(reason)\n")
                throw ExitCode(ProgramSearch.notExecutableCode)
            case .system(let reason): throw PrivateLarder.fail("cannot start \(name): \(reason)")
            }
        }
    }

    private func remarks(_ larder: PrivateLarder, _ given: [String: String]) -> [String] {
        var remarks: [String] = []
        if let remark = larder.storeRemark { remarks.append(remark) }
        let leftOut = ["no_proxy", "NO_PROXY", "no_grpc_proxy", "npm_config_noproxy", "NPM_CONFIG_NOPROXY"]
        if let name = leftOut.first(where: { !["", ","].contains(given[$0] ?? "") }) {
            remarks.append("\(name) was set, and is not heeded")
        }
        return remarks
    }
}
