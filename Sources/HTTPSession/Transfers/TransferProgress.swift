/// How far a transfer is, in bytes of content.
public struct TransferProgress: Equatable, Sendable {
    /// Of the request's content.
    public var sent: UInt64 = 0
    /// `nil` where it is not known beforehand.
    public var expectedToSend: UInt64?
    /// Of the response's content, what an earlier call has left of a download among it.
    public var received: UInt64 = 0
    /// `nil` where it is not known, or not yet.
    public var expectedToReceive: UInt64?
    /// Whether it has succeeded.
    public var isComplete = false

    /// The part of what is received, from 0 to 1; `nil` while the whole is not known. 1 when the transfer has succeeded.
    public var fractionReceived: Double? { Self.fraction(received, of: expectedToReceive, isComplete) }
    /// The part of what is sent.
    public var fractionSent: Double? { Self.fraction(sent, of: expectedToSend, isComplete) }

    private static func fraction(_ done: UInt64, of whole: UInt64?, _ isComplete: Bool) -> Double? {
        if isComplete { return 1 }
        guard let whole else { return nil }
        return whole == 0 ? 0 : min(1, Double(done) / Double(whole))
    }
}

/// Counts for one transfer over all its exchanges, and never tells less than before.
struct ProgressMeter {
    var sent: UInt64 = 0
    var expectedToSend: UInt64?
    var received: UInt64 = 0
    var expectedToReceive: UInt64?
    /// What came before this exchange and counts as received.
    var receivedBefore: UInt64 = 0
    private var highest = TransferProgress()

    /// The next exchange begins anew; what was told stays.
    mutating func beginExchange() {
        sent = 0
        received = 0
        expectedToReceive = nil
        receivedBefore = 0
    }

    var progress: TransferProgress {
        mutating get {
            let total = expectedToReceive.map { $0 &+ receivedBefore }
            highest.sent = max(highest.sent, sent)
            highest.expectedToSend = expectedToSend
            highest.received = max(highest.received, received &+ receivedBefore)
            if let total { highest.expectedToReceive = max(total, highest.received, highest.expectedToReceive ?? 0) }
            return highest
        }
    }

    mutating func complete() {
        _ = progress
        highest.isComplete = true
        highest.expectedToReceive = highest.received
        highest.expectedToSend = highest.sent
    }
}
