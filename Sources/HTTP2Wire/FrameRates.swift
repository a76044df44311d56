/// Counts the frames that the peer sends in one `rateWindow`, a period of time.
struct FrameRates {
    private let limits: HTTP2Limits
    private var windowStart = Duration.zero
    private var emptyData = 0
    private var settings = 0
    private var pings = 0
    private var resets = 0
    private var oversizedHeads = 0
    private var windowUpdates = 0
    private var others = 0
    private var closedStreamFrames = 0
    /// The streams that this side has reset in this `rateWindow`, and in the one before. Frames that the peer sent before it received a
    /// reset may arrive in the next `rateWindow`.
    private var sentResets = 0
    private var formerSentResets = 0
    /// The streams that the peer has reset, or has made this side reset, since the start of the connection.
    private(set) var resetTotal = 0
    /// The number of acknowledgements of SETTINGS and PING that have not been sent. The start of a new `rateWindow` does not reset this
    /// number.
    private var owed = 0

    init(limits: HTTP2Limits) { self.limits = limits }

    /// Starts a new `rateWindow` if the current one is over.
    mutating func advance(to now: Duration) {
        guard now - windowStart >= limits.rateWindow else { return }
        windowStart = now
        emptyData = 0
        settings = 0
        pings = 0
        resets = 0
        oversizedHeads = 0
        windowUpdates = 0
        others = 0
        closedStreamFrames = 0
        formerSentResets = sentResets
        sentResets = 0
    }

    mutating func noteEmptyData() -> HTTP2Limit? {
        emptyData += 1
        return emptyData > limits.emptyDataFrames ? .emptyDataFrames : nil
    }

    mutating func noteSettings(isAcknowledgement: Bool) -> HTTP2Limit? {
        settings += 1
        if settings > limits.settingsFrames { return .settingsFrames }
        return isAcknowledgement ? nil : noteOwed()
    }

    mutating func notePing(isAcknowledgement: Bool) -> HTTP2Limit? {
        pings += 1
        if pings > limits.pingFrames { return .pingFrames }
        return isAcknowledgement ? nil : noteOwed()
    }

    mutating func noteReset() -> HTTP2Limit? {
        resets += 1
        resetTotal += 1
        return resets > limits.resetStreams ? .resetStreams : nil
    }

    mutating func noteWindowUpdate() -> HTTP2Limit? {
        windowUpdates += 1
        return windowUpdates > limits.windowUpdateFrames ? .windowUpdateFrames : nil
    }

    mutating func noteOther() -> HTTP2Limit? {
        others += 1
        return others > limits.otherFrames ? .otherFrames : nil
    }

    /// Counts a DATA or HEADERS frame on a closed stream.
    mutating func noteClosedStreamFrame() { closedStreamFrames += 1 }

    var exceedsClosedStreamFrames: Bool {
        closedStreamFrames > limits.closedStreamFrames + limits.framesPerSentReset * (sentResets + formerSentResets)
    }

    private mutating func noteOwed() -> HTTP2Limit? {
        owed += 1
        return owed > limits.queuedControlFrames ? .queuedControlFrames : nil
    }

    // MARK: Sending

    mutating func noteAcknowledgementSent() { owed -= 1 }

    /// Each DATA frame that is sent permits the peer a few more WINDOW_UPDATE and PING frames: a peer responds to content with
    /// WINDOW_UPDATE, and may measure the round-trip time with PING, as gRPC does.
    mutating func noteDataSent() {
        windowUpdates = max(0, windowUpdates - HTTP2Limits.windowUpdatesPerData)
        pings = max(0, pings - 1)
    }

    /// Counts a stream that this side has reset because the peer violated the protocol. If too many streams were reset, the session fails
    /// when it next receives bytes.
    mutating func noteViolation() {
        resets += 1
        resetTotal += 1
    }

    mutating func noteResetSent() { sentResets += 1 }

    var exceedsResets: Bool { resets > limits.resetStreams }

    /// Counts a head of the peer that is above a limit for heads.
    mutating func noteOversizedHead() { oversizedHeads += 1 }

    var exceedsOversizedHeads: Bool { oversizedHeads > limits.oversizedHeads }
}
