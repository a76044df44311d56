import HTTPMessage
import Synchronization

/// The one gate through which everything leaves: asked before a name is looked up, a connection made or a pooled one used.
/// Shared by all loops.
package final class EgressGate: Sendable {
    package enum Position: UInt8, AtomicRepresentable, Sendable {
        case open
        /// For hosts that are this machine.
        case openToThisMachine
        case closed
    }

    private let position: Atomic<Position>

    package init(_ position: Position = .open) { self.position = Atomic(position) }

    /// - Parameter host: in lower case or not; an IPv6 address without brackets.
    package func isOpen(to host: String) -> Bool {
        switch position.load(ordering: .relaxed) {
        case .open: return true
        case .closed: return false
        case .openToThisMachine:
            let host = Array(host.utf8)
            return LoopbackHost.isMeant(by: host.span)
        }
    }

    /// Exchanges under way go on; new ones fail with `egressClosed` where the gate is not open to their host.
    package func set(_ position: Position) { self.position.store(position, ordering: .relaxed) }
}
