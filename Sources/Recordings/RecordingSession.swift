import EventLoop
import HTTPMessage
import ServerTrust
import Snapshots

/// The recorder and its exchanges in flight. Confined to the recording's thread.
final class RecordingSession: TimerHandler {
    private let recorder: SnapshotRecorder
    private var exchanges: [UInt64: ExchangeRecording] = [:]
    private var digests = RecordedDigests()
    private let progress: RecordingProgress
    private let isRefreshing: Bool
    private(set) var counts = RecordingSummary.Counts()
    /// Set when the timer's commit failed: nothing more is recorded.
    private var failure: SnapshotError?
    private weak var loop: EventLoop?

    /// - Parameter isRefreshing: whether failed exchanges leave the existing recordings in place.
    init(_ recorder: SnapshotRecorder, _ progress: RecordingProgress, isRefreshing: Bool) {
        self.recorder = recorder
        self.isRefreshing = isRefreshing
        self.progress = progress
    }

    /// Starts the timer that commits waiting data.
    func start(on loop: EventLoop) {
        self.loop = loop
        loop.setTimer(loop.makeTimer(self), afterMilliseconds: RecordingFile.commitInterval)
    }

    func deadlinePassed(_ timer: TimerID) {
        do throws(SnapshotError) {
            try recorder.writer?.commitIfDue()
        } catch {
            failure = error
            progress.noteFailure(error)
        }
        loop?.setTimer(timer, afterMilliseconds: RecordingFile.commitInterval)
    }

    /// - Parameter isLogged: whether the exchange's digest will be requested.
    package func begin(_ number: UInt64, _ request: RequestToMatch, isLogged: Bool) throws(SnapshotError) {
        if isLogged { digests.begin(number) }
        if let failure { throw failure }
        exchanges[number] = try recorder.begin(request)
    }

    package func earlyHints(_ number: UInt64, _ fields: Fields) { exchanges[number]?.earlyHints(fields) }

    package func head(_ number: UInt64, _ status: Status, _ reason: [UInt8], _ fields: Fields) {
        exchanges[number]?.head(status: status, reason: reason, fields: fields)
    }

    package func append(_ number: UInt64, _ octets: [UInt8]) throws(SnapshotError) {
        do throws(SnapshotError) {
            try exchanges[number]?.append(octets.span)
        } catch {
            exchanges[number] = nil
            throw error
        }
    }

    package func drop(_ number: UInt64) {
        exchanges[number] = nil
        digests.end(number, nil)
    }

    package func tellDigest(of number: UInt64, _ line: @escaping RecordedDigests.Line) { digests.tell(number, line) }

    package func finish(_ number: UInt64, _ end: ExchangeRecorder.End) throws(SnapshotError) {
        guard let exchange = exchanges.removeValue(forKey: number) else { return digests.end(number, nil) }
        defer { digests.end(number, exchange.bodyDigest) }
        if let body = end.requestBody { exchange.requestBody(body) }
        // In mode `refresh`, a failed exchange does not replace its recording.
        if end.failure != nil, isRefreshing {
            return progress.note { $0.noteUnrecorded(exchange.url, "failed") }
        }
        let outcome = try exchange.finish(
            times: end.times, protocolName: end.protocolName, trailers: end.trailers, chain: end.chain, failure: end.failure)
        switch outcome {
        case .recorded: counts.recorded += 1
        case .unchanged:
            counts.unchanged += 1
            return
        case .differs(let entry):
            counts.differing += 1
            return progress.note { $0.noteDifference(entry) }
        }
        if end.failure != nil { counts.failures += 1 }
        if end.isUnshared { counts.unshared += 1 }
    }

    package func finish(signing key: SigningKey?) -> Result<SnapshotRoots?, SnapshotError> {
        for exchange in exchanges.values { progress.note { $0.noteUnrecorded(exchange.url, "unfinished") } }
        exchanges = [:]
        digests.endAll()
        if isRefreshing, counts.recorded + counts.unchanged == 0 {
            // No response was received, so the existing file stays as it is.
            recorder.writer?.abandon()
            return .success(nil)
        }
        return Result { () throws(SnapshotError) in try recorder.finish(signing: key) }
    }
}
