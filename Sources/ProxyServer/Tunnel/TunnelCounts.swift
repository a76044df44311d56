/// Bytes that were moved, each way.
struct TunnelCounts: Sendable {
    var toUpstream: UInt64 = 0
    var toClient: UInt64 = 0
}
