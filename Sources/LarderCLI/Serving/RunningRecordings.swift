import EventLoop
import Foundation
import HTTPMessage
import ProxyServer
import Snapshots

/// The recordings of a running server: what it replays, and what it records into. They stay open over readings of the settings that say
/// the same of them.
final class RunningRecordings: Sendable {
    /// Why the settings cannot be served by.
    struct Refusal: Error {
        let reason: String
    }

    private struct State {
        var replayed: (terms: LarderSettings.Recordings, layers: RecordingLayers)?
        var recorded: (terms: LarderSettings.Recordings, file: RecordingFile)?
        /// In its place something else is recorded into.
        var former: RecordingFile?
        var ended: (file: RecordingFile, result: Result<SnapshotRoots, SnapshotError>)?

        func isRecorded(for settings: LarderSettings) -> Bool {
            settings.mode.records && recorded?.terms == settings.recordings
        }
    }

    private let state = Guarded(State())

    /// What is recorded into now.
    var file: RecordingFile? { state.withLock { $0.recorded?.file } }
    /// What is replayed now.
    var layers: RecordingLayers? { state.withLock { $0.replayed?.layers } }

    /// Opens what a mode needs, and has it stand in the server's settings.
    func prepare(_ serving: inout ServerSettings, for settings: LarderSettings) throws(Refusal) {
        let unfinished = state.withLock { $0.isRecorded(for: settings) ? nil : $0.recorded?.file.path }
        if settings.mode.replays, let unfinished, settings.recordings.files.contains(unfinished) {
            throw Refusal(reason: "replay.layers: \(unfinished) is being recorded into; `larder mode live` finishes it")
        }
        serving.layers = settings.mode.replays ? try layers(for: settings.recordings) : nil
        serving.recording = settings.mode.records ? try file(for: settings.recordings) : nil
    }

    /// What the recording that was finished last came to.
    var ended: (file: RecordingFile, result: Result<SnapshotRoots, SnapshotError>)? { state.withLock { $0.ended } }

    /// Finishes what is recorded into where these settings, which are in force, do not record into it; and waits for it.
    /// - Parameter settings: `nil` where nobody is served any more.
    /// - Returns: what it came to; `nil` where nothing is to be finished.
    func finish(unlessFor settings: LarderSettings? = nil) -> (file: RecordingFile, result: Result<SnapshotRoots, SnapshotError>)?
    {
        let file = state.withLock { state -> RecordingFile? in
            var file = state.former
            state.former = nil
            if file == nil, !(settings.map { state.isRecorded(for: $0) } ?? false) {
                file = state.recorded?.file
                state.recorded = nil
            }
            // It is another file from now on.
            if let file, state.replayed?.layers.terms.files.contains(file.path) ?? false { state.replayed = nil }
            return file
        }
        guard let file else { return nil }
        let ended = (file, Self.finish(file))
        state.withLock { $0.ended = ended }
        return ended
    }

    private static func finish(_ file: RecordingFile) -> Result<SnapshotRoots, SnapshotError> {
        let result = Guarded<Result<SnapshotRoots, SnapshotError>>(.failure(.malformed("it was not finished")))
        let hasEnded = DispatchSemaphore(value: 0)
        file.finish { outcome in
            result.withLock { $0 = outcome }
            hasEnded.signal()
        }
        hasEnded.wait()
        return result.withLock { $0 }
    }

    private func layers(for settings: LarderSettings.Recordings) throws(Refusal) -> RecordingLayers {
        if let replayed = state.withLock({ $0.replayed }), replayed.terms == settings { return replayed.layers }
        var terms = RecordingLayers.Terms()
        terms.files = settings.files
        terms.asOf =
            switch settings.asOf {
            case .newest: .newest
            case .generation(let number): .generation(number)
            case .time(let time): .time(time)
            }
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
        terms.key = try key(of: settings)
        for path in settings.signedBy {
            do throws(SnapshotError) {
                terms.signers.append(try VerifyingKey(pem: try octets(path)))
            } catch { throw Refusal(reason: "replay.signed_by: \(path): \(error)") }
        }
        let layers: RecordingLayers
        do throws(LayerFault) {
            layers = try RecordingLayers(terms)
        } catch {
            throw Refusal(reason: "replay.layers: \(error.path): \(error.reason)")
        }
        state.withLock { $0.replayed = (settings, layers) }
        return layers
    }

    private func file(for settings: LarderSettings.Recordings) throws(Refusal) -> RecordingFile {
        if let recorded = state.withLock({ $0.recorded }), recorded.terms == settings { return recorded.file }
        guard let path = settings.file else { throw Refusal(reason: "record.file names no file") }
        // Without a key of the project nobody can tell afterwards which secret a placeholder stands for.
        var terms = RecordingFile.Terms(
            path: path, key: try key(of: settings) ?? .make(), tool: SnapshotFiles.tool,
            now: Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)))
        terms.existing =
            switch settings.existing {
            case .refuse, .resume: .refuse
            case .append: .append
            case .overwrite: .overwrite
            }
        terms.resumes = settings.existing == .resume
        terms.keepsUnshared = settings.noStore == .keep
        terms.unscanned =
            switch settings.unscanned {
            case .auto: nil
            case .refuse: .refuse
            case .keep: .keep
            }
        do throws(SnapshotError) {
            if let match = settings.match { terms.match = try MatchTerms(text: try octets(match)) }
            let file = try RecordingFile(terms)
            state.withLock { state in
                state.former = state.recorded?.file
                state.recorded = (settings, file)
            }
            return file
        } catch {
            throw Refusal(reason: "record.file: \(error)")
        }
    }

    private func key(of settings: LarderSettings.Recordings) throws(Refusal) -> ProjectKey? {
        guard let path = settings.key else { return nil }
        do throws(SettingsFile.Unreadable) {
            if let key = ProjectKey(text: try SettingsFile.secretOctets(at: path, atMost: 4096)) { return key }
        } catch {
            throw Refusal(reason: "recordings.key: cannot read \(path): \(error.reason)")
        }
        throw Refusal(reason: "recordings.key: \(path) holds no key: 64 hexadecimal digits are one")
    }

    private func octets(_ path: String) throws(SnapshotError) -> [UInt8] {
        do throws(SettingsFile.Unreadable) {
            return try SettingsFile.octets(at: path, atMost: 1 << 20)
        } catch {
            throw .malformed("cannot read \(path): \(error.reason)")
        }
    }
}
