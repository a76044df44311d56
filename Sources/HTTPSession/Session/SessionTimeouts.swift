import UpstreamTransport

/// How long each phase of a transfer may take. Zero is no limit.
public struct SessionTimeouts: Equatable, Sendable {
    /// Waiting for a turn and for a connection while the limits are reached.
    public var queue: Duration = .seconds(60)
    /// Name look-up, connecting and the handshake of TLS.
    public var connect: Duration = .seconds(10)
    /// From the request's last byte to the end of the response's head.
    public var firstByte: Duration = .seconds(60)
    /// Between two bytes, of the response or of a request that the origin is slow to take.
    public var idle: Duration = .seconds(60)
    /// Each exchange with an origin, from its turn to its end. A redirect or another try is a new one.
    public var total: Duration = .zero

    /// The usual limits.
    public init() {}

    var upstream: UpstreamTimeouts {
        var timeouts = UpstreamTimeouts()
        timeouts.queue = queue.inMilliseconds
        timeouts.connect = connect.inMilliseconds
        timeouts.firstByte = firstByte.inMilliseconds
        timeouts.idle = idle.inMilliseconds
        timeouts.total = total.inMilliseconds
        return timeouts
    }
}

extension Duration {
    /// Rounded up, so that what is no limit stays apart from a very short one.
    var inMilliseconds: Int {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? 0 : Int.max }
        return max(0, Int(whole) + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }

    static func microseconds(counted count: Int) -> Duration { .microseconds(Int64(count)) }
}
