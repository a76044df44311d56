import ArgumentParser
import CommandEnvironment
import CommandSupport
import Foundation
import HTTPMessage
import LarderSettings
import ProxyPolicy
import ProxyServer
import Recordings
import Snapshots
import TextCoding

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Run a command, and serve its requests from recordings; no request leaves this machine.",
        discussion: """
            Like `larder run`, this runs the command with its own Larder. With several files (--layer), Larder uses the first \
            file that has a matching recording. A request without a match gets 504. The 504 and the summary name the nearest \
            recordings.

              larder replay build.larder -- make
              larder replay --strict --unused build.larder -- npm ci
              larder replay --no-strict -- make

            Exit codes: the command's own; 125 if Larder failed; 126 if the command cannot be executed, 127 if it does not exist; \
            4 if a check of --strict fails; 2 for wrong usage.
            """)

    @Argument(
        help:
            "The recording file. The default is .larder/recording.larder in the project, else recording.larder in the current folder."
    )
    var file: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A further snapshot, for requests that match no recording in the earlier snapshots.", valueName: "file"))
    var layer: [String] = []

    @Flag(help: "If a request has no recording, serve it from the store, with a stored response of any age.")
    var cache = false

    @Option(
        help: ArgumentHelp(
            "The project's key: a recorded secret then matches only the same secret. Without a key, it matches any value.",
            valueName: "file"))
    var key: String?

    @Option(help: ArgumentHelp("Use only files signed with this public key.", valueName: "file"))
    var signedBy: [String] = []

    @Option(
        help: ArgumentHelp(
            "Replay only recordings up to this generation, this day (such as 2026-11-23, in UTC, inclusive), or this time (such as 2026-11-23T10:00:00Z).",
            valueName: "moment"))
    var asOf: String?

    @Option(
        help:
            """
            What a request gets after all its recorded responses were used: the first response again (loop), the last response again \
            (last), or 504 (error).
            """
    )
    var sequenceEnd: LarderSettings.SequenceEnd?

    @OptionGroup var shared: CommandOptions

    @Flag(help: "Do not intercept https: https requests get 504.")
    var noIntercept = false

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            """
            Exit with 4 if a request was denied, missed or failed, or if no request came through Larder, even if the command succeeded.
            """,
            discussion:
                "The default is --strict for the project's recording in .larder, and --no-strict for other files.")
    )
    var strict: Bool?

    @Flag(help: "List the recordings that no request used.")
    var unused = false

    @Flag(
        help:
            "Remove recordings that no request used, if the command succeeds and no request was missed. This removes signatures.")
    var prune = false

    @Option(
        help: """
            The dates of responses. recorded: as recorded; shift: as if they were recorded now; freeze: as recorded, and the \
            command's clock starts at that time (with libfaketime).
            """)
    var clock = ReplayClock.recorded

    @Option(help: ArgumentHelp("The maximum age of a recording, such as 30d.", valueName: "time"))
    var expiresAfter: String?

    @Option(
        help: """
            What to do with a recording older than --expires-after. warn: replay it, with a warning; fail: exit with 125; \
            refresh: forward every request and re-record the file.
            """)
    var onExpired: LarderSettings.OnExpired?

    @Flag(name: [.short, .long], help: "Print no summary.")
    var quiet = false

    @OptionGroup var projectOptions: ProjectOptions

    @OptionGroup var networkOptions: NetworkOptions

    @OptionGroup var options: SettingsOptions

    func validate() throws {
        if shared.command.isEmpty {
            throw ValidationError("Which command? Write it after --, for example: larder replay build.larder -- make")
        }
        if prune, asOf != nil {
            throw ValidationError("--prune cannot be used with --as-of, because --prune would remove later recordings.")
        }
    }

    func run() throws {
        let run = try CommandRun()
        defer { run.end() }
        let project = ProjectFolder()
        let named = file
        let file = named ?? ProjectFolder.recording(of: project)
        guard named != nil || FileManager.default.fileExists(atPath: file) else {
            throw EphemeralProxy.fail("\(file) does not exist: create it with `larder record -- COMMAND`, or give a recording")
        }
        let isStrict =
            strict
            ?? (project.map { $0.recording == URL(filePath: file).resolvingSymlinksInPath().standardizedFileURL.path } ?? false)
        let network = try networkOptions.network(in: run.folder)
        let formerClock = try clock == .freeze ? Self.formerClock(of: file) : nil
        let larder = try EphemeralProxy(
            options, terms(replaying: file, of: project, in: network, at: formerClock), in: run.folder)
        if let refreshed = larder.refreshed { Terminal.talk("larder: \(printable(refreshed.refreshing, limit: 4096))\n") }
        let code = Result { () throws(ExitCode) in try run.run(shared.command, through: larder, in: network, at: formerClock) }
        let tally = larder.close()
        let unseen = UnobservedRun(tally, hasOwnNetwork: network != nil)
        if larder.refreshed != nil {
            return try end(code.get(), refreshedBy: larder, run, tally, unseen: unseen, isStrict: isStrict)
        }
        var remarks =
            [unseen?.sentence, tally?.untrustedRemark].compactMap { $0 } + run.remarks(on: larder)
            + larder.settings.replayWarnings
        if clock == .freeze, formerClock == nil {
            remarks.append("libfaketime is not installed, so the command used the current time")
        }
        if larder.recordings.layers?.hasMatchedAnySecret == true {
            remarks.append("without a key, any value matched a recorded secret")
        }
        if let tally, let layers = larder.recordings.layers, !quiet || unused {
            let summary = ReplaySummary(tally: tally, layers: layers, remarks: remarks)
            if !quiet { Terminal.talk(summary.text) }
            if unused { Terminal.talk(summary.unusedText) }
        }
        if quiet, let unseen { Terminal.talk("larder: \(unseen.sentence)\n") }
        let ended = try code.get()
        if ended != 0 { throw ExitCode(ended) }
        if prune, let tally, tally.deniedCount + tally.missedCount + tally.failedCount == 0, let layers = larder.recordings.layers
        {
            try Self.prune(layers)
        }
        guard isStrict else { return }
        let isIncomplete = tally.map { $0.deniedCount + $0.missedCount + $0.failedCount > 0 } ?? false
        if isIncomplete || unseen?.failsStrict == true { throw RunCommand.strictCode }
    }

    /// Ends a run that re-recorded an expired recording instead of replaying it.
    private func end(
        _ code: Int32, refreshedBy larder: EphemeralProxy, _ run: CommandRun, _ tally: RequestTally?, unseen: UnobservedRun?,
        isStrict: Bool
    ) throws {
        guard let recording = larder.recordings.ended else { throw EphemeralProxy.failureCode }
        let summary = RecordSummary(file: recording.file, result: recording.result, tally: tally)
        if !quiet || !summary.isWritten {
            let remark =
                unused || prune ? ["no recording was replayed, so --unused lists nothing and --prune removes nothing"] : []
            Terminal.talk(summary.text(remarks: (unseen.map { [$0.sentence] } ?? []) + run.remarks(on: larder) + remark))
        } else if let unseen {
            Terminal.talk("larder: \(unseen.sentence)\n")
        }
        if code != 0 { throw ExitCode(code) }
        guard summary.isWritten else { throw EphemeralProxy.failureCode }
        let hasFailed = tally.map { $0.missedCount + $0.failedCount > 0 } ?? false
        if isStrict, hasFailed || !summary.isComplete || unseen?.failsStrict == true { throw RunCommand.strictCode }
    }

    /// - Returns: `nil` if no library can change the command's clock.
    private static func formerClock(of file: String) throws(ExitCode) -> FormerClock? {
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        do throws(SnapshotError) {
            return FormerClock(of: try Snapshot(path: file).manifest.lastRecorded, now: now)
        } catch { throw EphemeralProxy.fail(error.text(of: file)) }
    }

    private static func prune(_ layers: ReplaySources) throws(ExitCode) {
        for (path, used) in zip(layers.terms.files, layers.usedPlaces) {
            do throws(SnapshotError) {
                let source = try Snapshot(path: path)
                guard used.count < source.count else { continue }
                let count = try SnapshotMaintenance.keep(of: source, at: path) { used.contains($0) }
                Terminal.talk("larder: removed \(count) from \(printable(path, limit: 4096))\n")
            } catch { throw EphemeralProxy.fail("cannot remove recordings from \(path), which is unchanged: \(error)") }
        }
    }

    private func terms(
        replaying file: String, of project: ProjectFolder?, in network: OwnNetwork?, at formerClock: FormerClock?
    ) -> EphemeralProxy.Terms {
        var terms = EphemeralProxy.Terms()
        terms.clock = formerClock
        terms.network = network
        terms.policy = shared.policy
        terms.project = project.map { ProjectSettings(folder: $0, choice: projectOptions.projectSettings, isReplayed: true) }
        if !cache { terms.store = ":memory:" }
        terms.log = shared.log
        terms.mode = .replay
        terms.interceptsNobody = noIntercept
        terms.isCounted = true
        let layers = ([file] + layer).map { URL(filePath: $0).path } + (cache ? [LarderSettings.Recordings.storeLayer] : [])
        terms.settings = [("replay", "replay.layers", Self.list(layers))]
        if !signedBy.isEmpty {
            terms.settings.append(("--signed-by", "replay.signed_by", Self.list(signedBy.map { URL(filePath: $0).path })))
        }
        if let key = key ?? project?.key { terms.settings.append(("--key", "recordings.key", .plain(URL(filePath: key).path))) }
        if let asOf { terms.settings.append(("--as-of", "replay.as_of", .plain(asOf))) }
        if clock == .shift { terms.settings.append(("--clock", "replay.dates", .plain("shift"))) }
        if let expiresAfter { terms.settings.append(("--expires-after", "replay.expires_after", .plain(expiresAfter))) }
        if let onExpired { terms.settings.append(("--on-expired", "replay.on_expired", .plain(onExpired.rawValue))) }
        if let sequenceEnd { terms.settings.append(("--sequence-end", "replay.sequence_end", .plain(sequenceEnd.rawValue))) }
        return terms
    }

    private static func list(_ values: [String]) -> SettingsNode {
        SettingsNode(.sequence(values.map(SettingsNode.plain)), at: .none)
    }
}

extension LarderSettings.SequenceEnd: ExpressibleByArgument {}
extension LarderSettings.OnExpired: ExpressibleByArgument {}
