import HTTPMessage
import Synchronization

/// The gate for all outgoing traffic: checked before a name is looked up, a connection is opened, or a pooled connection is used. Shared by
/// all loops.
package final class EgressGate: Sendable {
    package enum Position: UInt8, Sendable {
        case open
        /// Open only for hosts that name this machine.
        case openToThisMachine
        case closed
    }

    /// The lowest two bits are the position; the higher bits are the number of passes since the position was set. Both are in one word, so
    /// that each pass is counted under the position that allowed it.
    private let state: Atomic<UInt64>

    private static let positionBits: UInt64 = 2

    package init(_ position: Position = .open) { state = Atomic(UInt64(position.rawValue)) }

    /// - Parameter host: in upper or lower case; an IPv6 address without brackets.
    package func isOpen(to host: String) -> Bool {
        var word = state.load(ordering: .relaxed)
        while permits(word, host) {
            let (isCounted, found) = state.weakCompareExchange(
                expected: word, desired: word &+ (1 << Self.positionBits), ordering: .relaxed)
            if isCounted { return true }
            word = found
        }
        return false
    }

    private func permits(_ word: UInt64, _ host: String) -> Bool {
        switch Position(rawValue: UInt8(word & (1 << Self.positionBits - 1))) {
        case .open: return true
        case .closed, nil: return false
        case .openToThisMachine:
            let host = Array(host.utf8)
            return LoopbackHost.isMeant(by: host.span)
        }
    }

    /// How many checks passed since the position was last set.
    package var passCount: Int { Int(state.load(ordering: .relaxed) >> Self.positionBits) }

    /// Sets the position. Exchanges in flight continue; new exchanges fail with `egressClosed` if the gate is not open to their host.
    package func set(_ position: Position) { state.store(UInt64(position.rawValue), ordering: .relaxed) }
}
