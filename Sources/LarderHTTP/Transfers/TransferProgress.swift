/// The progress of a transfer, in bytes of content.
public struct TransferProgress: Equatable, Sendable {
    /// Bytes of the request's content that were sent.
    public var sent: UInt64 = 0
    /// The length of the request's content; `nil` if it is not known in advance.
    public var expectedToSend: UInt64?
    /// Bytes of the response's content that were received. For a resumed download, this includes the bytes from an earlier call.
    public var received: UInt64 = 0
    /// The length of the response's content; `nil` if it is not known, or not known yet.
    public var expectedToReceive: UInt64?
    /// Whether the transfer has succeeded.
    public var isComplete = false

    /// The received fraction, from 0 to 1; `nil` while the total is not known. 1 when the transfer has succeeded.
    public var fractionReceived: Double? { Self.fraction(received, of: expectedToReceive, isComplete) }
    /// The sent fraction, from 0 to 1; `nil` while the total is not known. 1 when the transfer has succeeded.
    public var fractionSent: Double? { Self.fraction(sent, of: expectedToSend, isComplete) }

    private static func fraction(_ done: UInt64, of whole: UInt64?, _ isComplete: Bool) -> Double? {
        if isComplete { return 1 }
        guard let whole else { return nil }
        return whole == 0 ? 0 : min(1, Double(done) / Double(whole))
    }
}

/// Counts the bytes of one transfer over all its exchanges; reported values never decrease.
struct ProgressMeter {
    var sent: UInt64 = 0
    var expectedToSend: UInt64?
    var received: UInt64 = 0
    var expectedToReceive: UInt64?
    /// The length of the part of a download that was received before this exchange.
    var receivedBefore: UInt64 = 0
    private var highest = TransferProgress()

    /// Resets the counts for the next exchange; the reported values stay.
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
