import CommandSupport
import EventLoop
import Foundation
import HTTPMessage
import LarderSettings
import ProxyServer
import Recordings
import SecretScanning
import Snapshots

/// The recordings of a running server: those that it replays, and the one that it writes. They stay open across reloads that do not change
/// their settings.
final class RunningRecordings: Sendable {
    /// Why the settings cannot be activated.
    struct Refusal: Error {
        let reason: String
    }

    private struct State {
        var replayed: (terms: LarderSettings.Recordings, layers: ReplaySources)?
        var recorded: (terms: LarderSettings.Recordings, purpose: LarderSettings.RecordingPurpose, file: RecordingFile)?
        /// The file that was recorded until a new recording replaced it.
        var former: RecordingFile?
        /// The file of the last comparison.
        var compared: RecordingFile?
        var ended: (file: RecordingFile, result: Result<SnapshotRoots?, SnapshotError>)?

        func isRecorded(for settings: LarderSettings) -> Bool {
            recorded?.terms == settings.recordings && recorded?.purpose == settings.recordingPurpose
        }

        /// The file that must not be read before it is finished.
        var unfinished: String? { recorded?.purpose == .compare ? nil : recorded?.file.path }
    }

    private let state = Guarded(State())
    private let report: @Sendable (String) -> Void

    /// How long a recording that ends waits for exchanges in flight, in seconds.
    static let patience = 5.0

    /// - Parameter report: called on any thread, with a message, as soon as an exchange cannot be recorded.
    init(report: @escaping @Sendable (String) -> Void) { self.report = report }

    /// The file that is being recorded.
    var file: RecordingFile? { state.withLock { $0.recorded?.file } }
    /// The sources that are being replayed.
    var layers: ReplaySources? { state.withLock { $0.replayed?.layers } }

    /// The current comparison, else the last one.
    var comparison: RecordingFile? {
        state.withLock { state in
            state.recorded.flatMap { $0.purpose == .compare ? $0.file : nil } ?? state.compared
        }
    }

    /// Opens the recordings that the settings' mode needs, and adds them to the server's settings.
    func prepare(_ serving: inout ServerSettings, for settings: LarderSettings) throws(Refusal) {
        let unfinished = state.withLock { $0.isRecorded(for: settings) ? nil : $0.unfinished }
        if settings.replays || settings.recordingPurpose == .compare, let unfinished,
            settings.recordings.files.contains(unfinished)
        {
            throw Refusal(reason: "replay.layers: Larder is recording into \(unfinished); `larder mode live` finishes it")
        }
        serving.layers = settings.replays ? try layers(for: settings.recordings) : nil
        serving.recording = try settings.recordingPurpose.map { purpose throws(Refusal) in
            try file(for: settings.recordings, purpose)
        }
    }

    /// The result of the recording that was finished last.
    var ended: (file: RecordingFile, result: Result<SnapshotRoots?, SnapshotError>)? { state.withLock { $0.ended } }

    /// Finishes the current recording if the active settings no longer record into it, and waits until it is finished. Exchanges that
    /// began under the former settings get up to `patience` to complete.
    /// - Parameter settings: the active settings; `nil` if the server has stopped.
    /// - Returns: the result; `nil` if there is nothing to finish.
    func finish(unlessFor settings: LarderSettings? = nil) -> (
        file: RecordingFile, result: Result<SnapshotRoots?, SnapshotError>
    )? {
        let file = state.withLock { state -> RecordingFile? in
            var file = state.former
            state.former = nil
            if file == nil, !(settings.map { state.isRecorded(for: $0) } ?? false) {
                file = state.recorded?.file
                state.recorded = nil
            }
            // The file's content changes now, so the sources that include it must be opened again.
            if let file, state.replayed?.layers.terms.files.contains(file.path) ?? false { state.replayed = nil }
            return file
        }
        guard let file else { return nil }
        if settings != nil { Self.waitForExchanges(of: file) }
        let ended = (file, Self.finish(file))
        state.withLock { $0.ended = ended }
        return ended
    }

    private static func waitForExchanges(of file: RecordingFile) {
        let isUnused = DispatchSemaphore(value: 0)
        file.whenUnused { isUnused.signal() }
        _ = isUnused.wait(timeout: .now() + patience)
    }

    private static func finish(_ file: RecordingFile) -> Result<SnapshotRoots?, SnapshotError> {
        let result = Guarded<Result<SnapshotRoots?, SnapshotError>>(.failure(.malformed("the recording was not finished")))
        let hasEnded = DispatchSemaphore(value: 0)
        file.finish { outcome in
            result.withLock { $0 = outcome }
            hasEnded.signal()
        }
        hasEnded.wait()
        return result.withLock { $0 }
    }

    static func asOf(_ moment: LarderSettings.Moment) -> AsOf {
        switch moment {
        case .newest: .newest
        case .generation(let number): .generation(number)
        case .time(let time): .time(time)
        }
    }

    private func layers(for settings: LarderSettings.Recordings) throws(Refusal) -> ReplaySources {
        if let replayed = state.withLock({ $0.replayed }), replayed.terms == settings { return replayed.layers }
        var terms = ReplaySources.Terms()
        terms.files = settings.files
        terms.asOf = Self.asOf(settings.asOf)
        terms.end =
            switch settings.sequenceEnd {
            case .loop: .loop
            case .last: .last
            case .error: .error
            }
        terms.scope =
            switch settings.sequenceScope {
            case .server: .server
            case .user: .user
            case .address: .address
            }
        terms.failures = settings.failures == .same ? .same : .miss
        terms.movesDates = settings.dates == .shift
        terms.key = try key(of: settings)
        for path in settings.signedBy {
            let text = try octets(path, of: "replay.signed_by")
            do throws(SnapshotError) {
                terms.signers.append(try VerifyingKey(pem: text))
            } catch { throw Refusal(reason: "replay.signed_by: \(path): \(error)") }
        }
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        if settings.onExpired == .fail, let expired = settings.expiredLayers(at: now).first {
            throw Refusal(reason: "replay.layers: \(expired)")
        }
        let layers: ReplaySources
        do throws(ReplaySourceError) {
            layers = try ReplaySources(terms)
        } catch {
            let reason = "\(error.reason)"
            throw Refusal(reason: "replay.layers: " + (reason.hasPrefix(error.path) ? reason : "\(error.path): \(reason)"))
        }
        state.withLock { $0.replayed = (settings, layers) }
        return layers
    }

    private func file(
        for settings: LarderSettings.Recordings, _ purpose: LarderSettings.RecordingPurpose
    ) throws(Refusal) -> RecordingFile {
        if let recorded = state.withLock({ $0.recorded }), recorded.terms == settings, recorded.purpose == purpose {
            return recorded.file
        }
        let named = purpose == .compare ? settings.files.first : settings.file
        guard let path = named else { throw Refusal(reason: "record.file names no file") }
        let key = try key(of: settings)
        // Without the project's key, no later run can compute the same placeholders for the same secrets.
        var terms = RecordingFile.Terms(
            path: path, key: key ?? .make(), tool: SnapshotFiles.tool,
            now: Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)))
        terms.isProjectsKey = key != nil
        switch purpose {
        case .record: break
        case .compare: terms.purpose = .compare(settings.files)
        case .refresh: if FileManager.default.fileExists(atPath: path) { terms.purpose = .refresh }
        }
        terms.existing =
            switch settings.existing {
            case .refuse, .resume: .refuse
            case .append: .append
            case .overwrite: .overwrite
            }
        // `refresh` adds changed exchanges to the file and keeps the existing exchanges.
        if purpose == .refresh { terms.existing = .append }
        terms.resumes = settings.existing == .resume
        terms.report = { [report] in report("\(path) is incomplete: \($0)") }
        terms.keepsUnshared = settings.noStore == .keep
        terms.unscanned =
            switch settings.unscanned {
            case .auto: nil
            case .refuse: .refuse
            case .keep: .keep
            }
        if let match = settings.match {
            let text = try octets(match, of: "record.match")
            do throws(SnapshotError) {
                terms.match = try MatchTerms(text: text)
            } catch { throw Refusal(reason: "record.match: \(error.text(of: match))") }
        }
        do throws(SnapshotError) {
            let file = try RecordingFile(terms)
            state.withLock { state in
                state.former = state.recorded?.file
                state.recorded = (settings, purpose, file)
                if purpose == .compare { state.compared = file }
            }
            return file
        } catch {
            throw Refusal(
                reason: purpose == .compare ? "replay.layers: \(error)" : "record.file: \(error.advice(recordingInto: path))")
        }
    }

    private func key(of settings: LarderSettings.Recordings) throws(Refusal) -> ProjectKey? {
        guard let path = settings.key else { return nil }
        do throws(LocalFile.Unreadable) {
            if let key = ProjectKey(text: try LocalFile.secretBytes(at: path, atMost: 4096)) { return key }
        } catch {
            throw Refusal(reason: "recordings.key: cannot read \(path): \(error.reason)")
        }
        throw Refusal(reason: "recordings.key: \(path) does not contain a key (64 hexadecimal digits)")
    }

    private func octets(_ path: String, of setting: String) throws(Refusal) -> [UInt8] {
        do throws(LocalFile.Unreadable) {
            return try LocalFile.bytes(at: path, atMost: 1 << 20)
        } catch {
            throw Refusal(reason: "\(setting): cannot read \(path): \(error.reason)")
        }
    }
}
