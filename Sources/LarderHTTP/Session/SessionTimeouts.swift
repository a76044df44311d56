import UpstreamTransport

/// How long each phase of a transfer may take. Zero means no limit.
public struct SessionTimeouts: Equatable, Sendable {
    /// The wait until the limits on exchanges and connections allow the exchange to begin.
    public var queue: Duration = .seconds(60)
    /// Name lookup, connecting and the TLS handshake.
    public var connect: Duration = .seconds(10)
    /// The time from the last byte of the request to the end of the response's head.
    public var firstByte: Duration = .seconds(60)
    /// The pause between two bytes of the response, or between two bytes of a request that the origin accepts slowly.
    public var idle: Duration = .seconds(60)
    /// One exchange with an origin, from the moment it may begin to its end. A redirect or retry is a new exchange.
    public var total: Duration = .zero

    /// The default timeouts.
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
    /// Rounded up, so that a very short limit does not become zero, which means no limit.
    var inMilliseconds: Int {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? 0 : Int.max }
        return max(0, Int(whole) + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }

    static func microseconds(counted count: Int) -> Duration { .microseconds(Int64(count)) }
}
