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
        commandName: "replay", abstract: "Runs a command whose requests are answered with what was recorded; nothing leaves.",
        discussion: """
            As `larder run` does, it gives the command a Larder of its own. What several files (--layer) have, the first one answers. What none \
            has is answered with 504, which names what comes near to it; so does the summary.

              larder replay build.larder -- make
              larder replay --strict --unused build.larder -- npm ci
              larder replay --no-strict -- make

            Exit codes: the command's own; 125 where Larder could not do its part; 126 and 127 where the command cannot be run or is not \
            there; 4 with --strict; 2 for wrong usage.
            """)

    @Argument(help: "A snapshot; else .larder/recording.larder of the project, or recording.larder here.")
    var file: String?

    @Option(name: .long, help: ArgumentHelp("A further snapshot, asked for what the ones before do not have.", valueName: "file"))
    var layer: [String] = []

    @Flag(help: "What no file has is answered with what is stored, whatever its age.")
    var cache = false

    @Option(help: ArgumentHelp("The project's key: a secret matches itself alone. Without one, any does.", valueName: "file"))
    var key: String?

    @Option(help: ArgumentHelp("Only files that this public key has signed.", valueName: "file"))
    var signedBy: [String] = []

    @Option(
        help: ArgumentHelp(
            "What was recorded up to a generation, a day such as 2026-11-23 (in UTC, inclusive), or a time such as 2026-11-23T10:00:00Z.",
            valueName: "moment"))
    var asOf: String?

    @Option(help: "What comes behind the last of several answers to one request: loop, last or error.")
    var sequenceEnd: LarderSettings.SequenceEnd?

    @OptionGroup var shared: CommandOptions

    @Flag(help: "Leaves https alone: it gets 504.")
    var noIntercept = false

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            "Exit with 4 if a request was denied or missed or failed as recorded, or if no request came through Larder, even if the command succeeded.",
            discussion: "The default is --strict for the project's recording in .larder, and --no-strict for any other file."))
    var strict: Bool?

    @Flag(help: "Names the recordings that nobody has asked for.")
    var unused = false

    @Flag(
        help:
            "Takes out of the files what nobody has asked for, once the command has done well and missed nothing. Signatures go.")
    var prune = false

    @Option(
        help: """
            Which time it is: recorded, answers are dated as they were; shift, as if they had been recorded now; freeze, the command's own clock \
            goes on from then, by libfaketime.
            """)
    var clock = ReplayClock.recorded

    @Option(help: ArgumentHelp("How long after it was recorded a file may be replayed, such as 30d.", valueName: "time"))
    var expiresAfter: String?

    @Option(
        help: """
            What comes of a file that is older: warn; fail, exit code 125; refresh, every request goes out and the file is recorded anew.
            """)
    var onExpired: LarderSettings.OnExpired?

    @Flag(name: [.short, .long], help: "No summary.")
    var quiet = false

    @OptionGroup var projectOptions: ProjectOptions

    @OptionGroup var networkOptions: NetworkOptions

    @OptionGroup var options: SettingsOptions

    func validate() throws {
        if shared.command.isEmpty {
            throw ValidationError("Which command? It stands behind --, as in: larder replay build.larder -- make")
        }
        if prune, asOf != nil { throw ValidationError("--prune would take out what came later than --as-of.") }
    }

    func run() throws {
        let run = try CommandRun()
        defer { run.end() }
        let project = ProjectFolder()
        let named = file
        let file = named ?? ProjectFolder.recording(of: project)
        guard named != nil || FileManager.default.fileExists(atPath: file) else {
            throw EphemeralProxy.fail("there is no \(file): make it with `larder record -- COMMAND`, or name a recording")
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
        if clock == .freeze, formerClock == nil { remarks.append("libfaketime is not installed: the command had today's clock") }
        if larder.recordings.layers?.hasMatchedAnySecret == true {
            remarks.append("no key was given: any value matched where a secret was recorded")
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

    /// What was to be replayed has been recorded anew.
    private func end(
        _ code: Int32, refreshedBy larder: EphemeralProxy, _ run: CommandRun, _ tally: RequestTally?, unseen: UnobservedRun?,
        isStrict: Bool
    ) throws {
        guard let recording = larder.recordings.ended else { throw EphemeralProxy.failureCode }
        let summary = RecordSummary(file: recording.file, result: recording.result, tally: tally)
        if !quiet || !summary.isWritten {
            let remark = unused || prune ? ["nothing was replayed: --unused and --prune tell and take out nothing"] : []
            Terminal.talk(summary.text(remarks: (unseen.map { [$0.sentence] } ?? []) + run.remarks(on: larder) + remark))
        } else if let unseen {
            Terminal.talk("larder: \(unseen.sentence)\n")
        }
        if code != 0 { throw ExitCode(code) }
        guard summary.isWritten else { throw EphemeralProxy.failureCode }
        let hasFailed = tally.map { $0.missedCount + $0.failedCount > 0 } ?? false
        if isStrict, hasFailed || !summary.isComplete || unseen?.failsStrict == true { throw RunCommand.strictCode }
    }

    /// - Returns: `nil` where no library can tell the command another time.
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
                Terminal.talk("larder: took \(count) out of \(printable(path, limit: 4096))\n")
            } catch { throw EphemeralProxy.fail("\(path) stays as it was: \(error)") }
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
