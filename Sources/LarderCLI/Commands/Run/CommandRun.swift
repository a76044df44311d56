import ArgumentParser
import CommandEnvironment
import CommandSupport
import Foundation
import TextCoding

/// One run of a command whose requests go through a Larder: prepares the command's environment, and removes temporary files afterwards.
struct CommandRun {
    let environment: [String: String]
    let folder: PrivateFolder
    private let given: InheritedState
    private let signals: RunSignals

    /// Call this before any other state is changed and before any thread is started.
    /// - Throws: exit code 125, after reporting the problem.
    init() throws(ExitCode) {
        given = InheritedState()
        ProcessMemorySecrecy.begin(hasChild: true)
        signals = RunSignals(given.signals)
        environment = ProcessInfo.processInfo.environment
        guard let folder = PrivateFolder(environment) else {
            throw EphemeralProxy.fail("no place for temporary files: neither TMPDIR nor /tmp is writable")
        }
        self.folder = folder
        signals.sweep(folder)
    }

    func end() { folder.remove() }

    /// - Returns: the command's exit code.
    func run(_ command: [String], through larder: AttachedProxy) throws(ExitCode) -> Int32 {
        Self.warn(of: OtherProxies(environment))
        return try start(command, larder.environment.values(over: environment))
    }

    /// - Parameters:
    ///   - network: the network namespace of the command; `nil`: this process's.
    ///   - clock: the command's clock; `nil`: this machine's.
    /// - Returns: the command's exit code.
    func run(
        _ command: [String], through larder: EphemeralProxy, in network: OwnNetwork? = nil, at clock: FormerClock? = nil
    ) throws(ExitCode) -> Int32 {
        let former = clock?.variables(over: environment) ?? [:]
        let isTransparent = network?.transparent != nil
        let variables = try variables(for: larder, coveringSystem: isTransparent)
        if larder.settings.tls.loaded?.authority != nil, let advice = ProgramAdvice.sentence(for: command[0]) {
            Terminal.talk("larder: \(printable(advice, limit: 4096))\n")
        }
        // Programs that read no environment variable for CA certificates find the root among the system's CA certificates.
        let trusting = isTransparent ? network?.trusting(ClientFiles(folder: folder.path)) : network
        return try start(command, variables.merging(former) { $1 }, in: trusting)
    }

    /// The messages to the user if the run may not have worked as expected.
    func remarks(on larder: EphemeralProxy) -> [String] {
        var remarks: [String] = []
        if let remark = larder.storeRemark { remarks.append(remark) }
        let leftOut = ["no_proxy", "NO_PROXY", "no_grpc_proxy", "npm_config_noproxy", "NPM_CONFIG_NOPROXY"]
        if let name = leftOut.first(where: { !["", ","].contains(environment[$0] ?? "") }) {
            remarks.append("ignored the variable \(name): requests to its hosts go through Larder too")
        }
        return remarks
    }

    /// Writes the files that the command's environment variables name.
    /// - Parameter coversSystem: whether these files will also be mounted over the system's files.
    /// - Returns: the environment variables for the command.
    private func variables(for larder: EphemeralProxy, coveringSystem coversSystem: Bool) throws(ExitCode) -> [String: String] {
        let files = ClientFiles(folder: folder.path)
        let former = OriginalEnvironment(environment, behind: files)
        let trust = ClientTrust(larder.settings.tls, environment: former.values)
        let variables = ClientEnvironment(proxy: larder.address, files: files, carriesTrust: !trust.isEmpty)
        do throws(WholeFile.Unwritten) {
            try ClientFolder(variables, trust: trust, former: former).fill(folder, coversSystem: coversSystem)
        } catch {
            throw EphemeralProxy.fail("cannot write to \(folder.path): \(error.reason)")
        }
        let others = OtherProxies(environment)
        if !larder.settings.upstream.leadsThroughProxy, let name = others.replaced(by: variables).first {
            Terminal.talk(
                "larder: ignored the proxy in \(name): to send requests through another proxy, set upstream.proxy\n"
            )
        }
        Self.warn(of: others)
        var values = variables.values(over: environment)
        // With this variable, `larder status` and `larder explain` find this Larder.
        if let socket = larder.adminSocket { values["LARDER_ADMIN_SOCKET"] = socket }
        return values
    }

    private static func warn(of others: OtherProxies) {
        for name in others.stronger {
            Terminal.talk(
                "larder: \(printable(name)) overrides the variables that Larder sets: "
                    + "programs that read \(printable(name)) may bypass Larder, and Larder does not count their requests\n"
            )
        }
    }

    private func start(
        _ command: [String], _ variables: [String: String], in network: OwnNetwork? = nil
    ) throws(ExitCode) -> Int32 {
        do throws(ChildProcess.Failure) {
            return try ChildProcess(command, changing: variables, given: given, signals: signals, in: network).waitForEnd()
        } catch {
            let name = printable(command[0], limit: 4096)
            switch error {
            case .missing:
                Terminal.talk("larder: \(name): command not found\n")
                throw ExitCode(ProgramSearch.missingCode)
            case .notExecutable(let reason):
                Terminal.talk("larder: \(name): \(reason)\n")
                throw ExitCode(ProgramSearch.notExecutableCode)
            case .system(let reason): throw EphemeralProxy.fail("cannot start \(name): \(reason)")
            }
        }
    }
}
