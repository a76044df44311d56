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
        commandName: "record", abstract: "Runs a command and records what it asks for, and every answer, into one file.",
        discussion: """
            As `larder run` does, it gives the command a Larder of its own. Every request goes out and is recorded: nothing is \
            answered from the store, and nothing is stored. Answers are recorded that no cache may keep. Secrets are not: placeholders \
            stand in their place. The file is called FILE.partial until the command has ended.

              larder record -o build.larder -- make
              larder record -o build.larder --missing -- make
              larder replay build.larder -- make

            Exit codes: the command's own; 125 where Larder could not do its part, or not all could be written; 126 and 127 where the \
            command cannot be run or is not there; 4 with --strict; 2 for wrong usage.
            """)

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The file; else .larder/recording.larder of the project, or recording.larder here.", valueName: "file")
    )
    var output: String?

    @Flag(help: "What is recorded becomes a further generation of the file that is there.")
    var append = false

    @Flag(help: "What the file has is the answer; only the rest goes out, and is recorded beside it.")
    var missing = false

    @Flag(help: "The file that is there is replaced, once the new one is finished.")
    var overwrite = false

    @Flag(help: "Goes on with FILE.partial, which was not finished.")
    var resume = false

    @Option(
        help: ArgumentHelp(
            "The project's key, by which secrets are known again; made where there is none. Do not commit it.", valueName: "file")
    )
    var key: String?

    @Option(
        help: ArgumentHelp(
            "A JSON file that says what of requests tells recordings apart: what is ignored, sorted or counts too.",
            valueName: "file"))
    var match: String?

    @Option(help: "What becomes of answers that no shared cache may keep: keep or skip.")
    var noStore = LarderSettings.NoStore.keep

    @OptionGroup var shared: CommandOptions

    @Flag(help: "Leaves https alone: it is not recorded.")
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
            throw ValidationError("Which command? It stands behind --, as in: larder record -o build.larder -- make")
        }
        if [append, missing, overwrite, resume].count(where: { $0 }) > 1 {
            throw ValidationError("Give one of --append, --missing, --overwrite and --resume.")
        }
        if match != nil, append || resume {
            throw ValidationError("--match is of a new file: one that is gone on with keeps what it was begun with.")
        }
    }

    func run() throws {
        let run = try CommandRun()
        defer { run.end() }
        let project = ProjectFolder()
        let file = output ?? ProjectFolder.recording(of: project)
        if let key { try Self.makeKey(at: key) }
        let network = try networkOptions.network(in: run.folder)
        let larder = try EphemeralProxy(options, terms(recordingInto: file, of: project, in: network), in: run.folder)
        if noStore == .keep {
            Terminal.talk(
                "larder: recording into \(printable(file, limit: 4096)); answers that no cache may keep are recorded too\n")
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
        // Nothing is stored.
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

    /// Where there is none, a project's key is made, its owner's alone.
    /// - Throws: 125, after saying why it cannot be made.
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
