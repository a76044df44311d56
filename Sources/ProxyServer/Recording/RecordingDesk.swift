import EventLoop
import HTTPMessage
import ServerTrust
import Snapshots

/// The recorder and the exchanges that are on their way into it. Confined to the recording's thread.
final class RecordingDesk: TimerHandler {
    private let recorder: SnapshotRecorder
    private var exchanges: [UInt64: ExchangeRecording] = [:]
    private(set) var counts = RecordingSummary.Counts()
    /// What the timer's commit has failed with: told by the next that is recorded.
    private var failure: SnapshotError?
    private weak var loop: EventLoop?

    init(_ recorder: SnapshotRecorder) { self.recorder = recorder }

    /// Commits what has waited, from now on, as often as it has to be.
    func start(on loop: EventLoop) {
        self.loop = loop
        loop.setTimer(loop.makeTimer(self), afterMilliseconds: RecordingFile.commitInterval)
    }

    func deadlinePassed(_ timer: TimerID) {
        do throws(SnapshotError) {
            try recorder.writer.commitIfDue()
        } catch {
            failure = error
        }
        loop?.setTimer(timer, afterMilliseconds: RecordingFile.commitInterval)
    }

    func begin(_ number: UInt64, _ request: RequestToMatch) throws(SnapshotError) {
        if let failure { throw failure }
        exchanges[number] = try recorder.begin(request)
    }

    func head(_ number: UInt64, _ status: Status, _ reason: [UInt8], _ fields: Fields) {
        exchanges[number]?.head(status: status, reason: reason, fields: fields)
    }

    func append(_ number: UInt64, _ octets: [UInt8]) throws(SnapshotError) {
        do throws(SnapshotError) {
            try exchanges[number]?.append(octets.span)
        } catch {
            exchanges[number] = nil
            throw error
        }
    }

    func drop(_ number: UInt64) { exchanges[number] = nil }

    func finish(_ number: UInt64, _ end: RecordingTape.End) throws(SnapshotError) {
        guard let exchange = exchanges.removeValue(forKey: number) else { return }
        try exchange.finish(
            times: end.times, protocolName: end.protocolName, trailers: end.trailers, chain: end.chain, failure: end.failure)
        counts.recorded += 1
        if end.failure != nil { counts.failures += 1 }
        if end.isUnshared { counts.unshared += 1 }
    }

    func finish(signing key: SigningKey?) -> Result<SnapshotRoots, SnapshotError> {
        exchanges = [:]
        return Result { () throws(SnapshotError) in try recorder.writer.finish(signing: key) }
    }
}
