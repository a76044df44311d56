/// The number of bytes relayed in each direction.
struct TunnelCounts: Sendable {
    var toUpstream: UInt64 = 0
    var toClient: UInt64 = 0
}
