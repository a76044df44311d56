import ArgumentParser
import CommandEnvironment
import CommandSupport
import Doctor
import Foundation
import ServerTrust
import TextCoding

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Diagnose why programs bypass Larder, and suggest fixes.",
        discussion: """
            Checks the settings, the CA, the clock, the store, the environment variables and the running Larder. Then doctor \
            starts a local test server. Each program of --client that is installed fetches a file from this server, with the \
            variables of larder env. Nothing leaves this machine except a program's own DNS query for the server's name, and \
            doctor changes nothing. If upstream.proxy is set, doctor tries no programs.

              larder doctor
              larder doctor --client git --client pip -o json

            Exit codes: 0 no problem, 1 a problem, 2 wrong usage.
            """)

    @Option(
        help: ArgumentHelp(
            "Test only this program: one of \(ClientTrial.all.map(\.name).joined(separator: ", ")). Repeatable.",
            valueName: "name"))
    var client: [String] = []

    @OptionGroup var format: OutputOption

    @OptionGroup var options: SettingsOptions

    func validate() throws {
        let names = ClientTrial.all.map(\.name)
        for name in client where !names.contains(name) {
            throw ValidationError(
                "'\(printable(name))' is not one of the programs that doctor can try: \(names.joined(separator: ", ")).")
        }
    }

    func run() throws {
        ProcessMemorySecrecy.begin(hasChild: true)
        let findings = findings()
        switch format.output {
        case .text:
            let style = Terminal.Style()
            Terminal.output(findings.map { $0.text(style: style) }.joined())
        case .json: Terminal.output(JSONText.object([("findings", .array(findings.map(\.json)))]).written() + "\n")
        }
        if findings.contains(where: { $0.outcome == .bad }) { throw ExitCode.failure }
    }

    private func findings() -> [Finding] {
        let environment = ProcessInfo.processInfo.environment
        let diagnosis = Diagnosis(file: options.config, assignments: options.set, environment: environment)
        let now = AuthorityCommand.now
        let (settings, loaded) = diagnosis.settings()
        var findings = [settings, diagnosis.clock(at: now)]
        guard let loaded else { return findings }
        findings += diagnosis.addresses(loaded).map { [$0] } ?? []
        guard let folder = PrivateFolder(environment) else {
            return findings + [Finding("larder", .skipped, "doctor cannot create its temporary files")]
        }
        let process = TrialProcess()
        Interruption.begin {
            process.kill()
            folder.remove()
        }
        defer { folder.remove() }
        let (server, running) = diagnosis.running(loaded, folder)
        findings.append(diagnosis.authority(loaded, at: now, isRunning: running != nil, used: running?.root))
        findings.append(diagnosis.store(loaded, isRunning: running != nil))
        findings.append(server)
        findings += diagnosis.variables(running?.environment)
        guard let running, let origin = TrialOrigin() else { return findings }
        defer { origin.stop() }
        findings += RunningDiagnosis(
            running: running.environment, origin: origin, hasUpstreamProxy: loaded.settings.upstream.leadsThroughProxy,
            edit: Diagnosis.edit(loaded)
        ).findings()
        guard findings.last?.outcome == .good else { return findings }
        let variables = environment.merging(running.environment.values(over: environment)) { $1 }
        for trial in ClientTrial.all where client.isEmpty || client.contains(trial.name) {
            findings += TriedClient(trial: trial, environment: variables, origin: origin, folder: folder.path, process: process)
                .findings(intercepts: running.intercepts, isAsked: !client.isEmpty)
        }
        return findings
    }
}
