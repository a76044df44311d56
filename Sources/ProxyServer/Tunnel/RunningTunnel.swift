/// What moves bytes both ways, and belongs to no connection any more.
protocol RunningTunnel: AnyObject {
    /// Stops at once, as when the proxy ends.
    func close()
}

/// Bytes that were moved, each way.
struct TunnelCounts: Sendable {
    var toUpstream: UInt64 = 0
    var toClient: UInt64 = 0
}
