import HTTPMessage
import Synchronization

/// The one gate through which everything leaves: asked before a name is looked up, a connection made or a pooled one used.
/// Shared by all loops.
package final class EgressGate: Sendable {
    package enum Position: UInt8, Sendable {
        case open
        /// For hosts that are this machine.
        case openToThisMachine
        case closed
    }

    /// The position in the last two bits, above it how often something has passed since: as one word, so that what is counted has passed under
    /// the position that it is counted for.
    private let state: Atomic<UInt64>

    private static let positionBits: UInt64 = 2

    package init(_ position: Position = .open) { state = Atomic(UInt64(position.rawValue)) }

    /// - Parameter host: in lower case or not; an IPv6 address without brackets.
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

    /// How often it was asked and was open, since it was set last.
    package var passCount: Int { Int(state.load(ordering: .relaxed) >> Self.positionBits) }

    /// Exchanges under way go on; new ones fail with `egressClosed` where the gate is not open to their host.
    package func set(_ position: Position) { state.store(UInt64(position.rawValue), ordering: .relaxed) }
}
