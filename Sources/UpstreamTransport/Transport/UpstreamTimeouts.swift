/// How long each phase of an exchange may take, in milliseconds. Zero is no limit.
package struct UpstreamTimeouts: Equatable, Sendable {
    /// Waiting for a connection while the limits are reached.
    package var queue = 10_000
    /// Name look-up and connecting.
    package var connect = 10_000
    /// From the request's last byte to the end of the response's head.
    package var firstByte = 60_000
    /// Between two bytes, of the response or of a request that the origin is slow to take.
    package var idle = 60_000
    /// All of it.
    package var total = 0

    package init() {}
}

/// The phase in which an exchange ran out of time.
package enum TimeoutPhase: Equatable, Sendable {
    case queue, nameLookUp, connect, sending, firstByte, idle, total
}
