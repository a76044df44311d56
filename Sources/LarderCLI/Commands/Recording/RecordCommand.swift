import ArgumentParser
import CommandEnvironment
import CommandSupport
import Foundation
import LarderSettings
import ProxyPolicy
import ProxyServer
import SecretScanning
import Snapshots
import TextCoding

struct RecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Run a command, and record its requests and their responses into one file.",
        discussion: """
            Like `larder run`, this runs the command with its own Larder. Larder forwards and records every request, and does \
            not use the store. It also records responses that no cache may store. Placeholders replace secrets. The recording \
            is in FILE.partial until the command has ended.

              larder record -o build.larder -- make
              larder record -o build.larder --missing -- make
              larder replay build.larder -- make

            Exit codes: the command's own; 125 if Larder failed, or the recording is incomplete; 126 if the command cannot be executed, 127 if \
            it does not exist; 4 if a check of --strict fails; 2 for wrong usage.
            """)

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "The recording file. The default is .larder/recording.larder in the project, else recording.larder in the current folder.",
            valueName: "file")
    )
    var output: String?

    @Flag(help: "Append a generation to a file that exists.")
    var append = false

    @Flag(help: "Serve the responses in the file, and record only the requests that it lacks.")
    var missing = false

    @Flag(help: "Replace a recording that exists, once the new one is complete.")
    var overwrite = false

    @Flag(help: "Continue an unfinished FILE.partial.")
    var resume = false

    @Option(
        help: ArgumentHelp(
            "The project's key, with which Larder recognizes secrets. It is created if necessary. Do not commit it.",
            valueName: "file")
    )
    var key: String?

    @Option(
        help: ArgumentHelp(
            "A JSON file with match rules: which parts of requests are ignored, sorted or compared.",
            valueName: "file"))
    var match: String?

    @Option(help: "Whether to record responses that a shared cache may not store: keep or skip.")
    var noStore = LarderSettings.NoStore.keep

    @OptionGroup var shared: CommandOptions

    @Flag(help: "Do not intercept https: https requests are not recorded.")
    var noIntercept = false

    @Flag(
        help:
            "Exit with 4 if a request is not in the recording, or if no request came through Larder, even if the command succeeded."
    )
    var strict = false

    @OptionGroup var projectOptions: ProjectOptions

    @OptionGroup var networkOptions: NetworkOptions

    @OptionGroup var options: SettingsOptions

    func validate() throws {
        if shared.command.isEmpty {
            throw ValidationError("Which command? Write it after --, for example: larder record -o build.larder -- make")
        }
        if [append, missing, overwrite, resume].count(where: { $0 }) > 1 {
            throw ValidationError("Give only one of --append, --missing, --overwrite and --resume.")
        }
        if match != nil, append || resume {
            throw ValidationError("--match needs a new file: an existing recording keeps its match rules.")
        }
    }

    func run() throws {
        let run = try CommandRun()
        defer { run.end() }
        let project = ProjectFolder()
        let file = output ?? ProjectFolder.recording(of: project)
        if let key { try Self.makeKey(at: key) }
        if append || missing || resume { try checkPublicNames(of: file) }
        let network = try networkOptions.network(in: run.folder)
        let larder = try EphemeralProxy(options, terms(recordingInto: file, of: project, in: network), in: run.folder)
        if noStore == .keep {
            Terminal.talk(
                "larder: recording into \(printable(file, limit: 4096)), including responses that a shared cache may not store\n")
        }
        let code = Result { () throws(ExitCode) in try run.run(shared.command, through: larder, in: network) }
        let tally = larder.close()
        let summary = larder.recordings.ended.map { RecordSummary(file: $0.file, result: $0.result, tally: tally) }
        let unseen = UnobservedRun(tally, hasOwnNetwork: network != nil)
        if let summary { Terminal.talk(summary.text(remarks: (unseen.map { [$0.sentence] } ?? []) + run.remarks(on: larder))) }
        let ended = try code.get()
        if ended != 0 { throw ExitCode(ended) }
        guard let summary, summary.isWritten else { throw EphemeralProxy.failureCode }
        if strict, !summary.isComplete || unseen?.failsStrict == true { throw RunCommand.strictCode }
    }

    private func terms(
        recordingInto file: String, of project: ProjectFolder?, in network: OwnNetwork?
    ) -> EphemeralProxy.Terms {
        var terms = EphemeralProxy.Terms()
        terms.network = network
        terms.policy = shared.policy
        terms.project = project.map { ProjectSettings(folder: $0, choice: projectOptions.projectSettings, isReplayed: false) }
        // Responses are not stored in a file.
        terms.store = ":memory:"
        terms.log = shared.log
        terms.interceptsNobody = noIntercept
        terms.isCounted = true
        let path = URL(filePath: file).path
        let isThere = FileManager.default.fileExists(atPath: path)
        terms.mode = missing && isThere ? .recordMissing : .record
        let existing: LarderSettings.Existing =
            resume ? .resume : overwrite ? .overwrite : append || missing ? .append : .refuse
        terms.settings = [
            ("--output", "record.file", .plain(path)), ("record", "record.existing", .plain(existing.rawValue)),
            ("--no-store", "record.no_store", .plain(noStore.rawValue)),
        ]
        if missing, isThere {
            terms.settings.append(
                ("--missing", "replay.layers", SettingsNode(.sequence([.plain(path)]), at: .none)))
        }
        if let key = key ?? project?.key { terms.settings.append(("--key", "recordings.key", .plain(URL(filePath: key).path))) }
        if let match { terms.settings.append(("--match", "record.match", .plain(URL(filePath: match).path))) }
        return terms
    }

    /// Refuses to continue a recording that declares names of secrets as public, unless the user allows that for this run: the values
    /// under these names would be recorded unchanged. The recording may come from another user, also after an earlier decision.
    private func checkPublicNames(of file: String) throws {
        // A file that is missing or damaged is reported when it is opened for recording.
        guard projectOptions.projectSettings != .allow, let terms = try? SnapshotWriter.terms(ofRecording: file),
            !terms.secrets.harmless.isEmpty
        else { return }
        let names = terms.secrets.harmless.map { printable($0) }.joined(separator: ", ")
        throw EphemeralProxy.fail(
            "\(printable(file, limit: 4096)) stores the values of these names unchanged, although the names look like names of secrets "
                + "(secrets.public): \(names). If that is intended, use --project-settings=allow")
    }

    /// Creates a project's key, readable only by its owner, if there is none.
    /// - Throws: exit code 125, after reporting why the key cannot be created.
    static func makeKey(at path: String) throws {
        if FileManager.default.fileExists(atPath: path) { return }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw EphemeralProxy.fail("cannot write \(path): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        let code = Descriptor.write(ProjectKey.make().text[...], to: descriptor)
        if code != 0 { throw EphemeralProxy.fail("cannot write \(path): \(String(cString: strerror(code)))") }
    }
}

extension LarderSettings.NoStore: ExpressibleByArgument {}
