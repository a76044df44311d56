/// How long each phase of an exchange may take, in milliseconds. Zero means no limit.
package struct UpstreamTimeouts: Equatable, Sendable {
    /// The maximum time to wait for a connection while the limits are reached.
    package var queue = 10_000
    /// The maximum time for name lookup and connecting.
    package var connect = 10_000
    /// The maximum time from the last byte of the request to the end of the response's head.
    package var firstByte = 60_000
    /// The maximum time between two bytes of the response, or between two bytes of a request that the origin accepts slowly.
    package var idle = 60_000
    /// The maximum time for the whole exchange.
    package var total = 0

    package init() {}
}

/// The phase in which an exchange timed out.
package enum TimeoutPhase: Equatable, Sendable {
    case queue, nameLookUp, connect, sending, firstByte, idle, total
}
