import EventLoop
import HTTPCaching

/// The chains that responses in memory came by, each of them once however many share it.
///
/// It keeps none alive: one goes with the last response that came by it. Those that have gone are forgotten when room is needed, so that what
/// it counts is never less than there is.
final class ChainDirectory: Sendable {
    fileprivate struct Entry {
        weak var chain: RecordedChain?
        let count: Int
    }

    fileprivate struct State {
        var entries: [[UInt8]: Entry] = [:]
        var octets = 0
        /// How many are refused before those that have gone are looked for again, which takes as long as there are entries.
        var patience = 0
    }

    private let state = Guarded(State())

    /// The one of these bytes that others share already, or from now on this one.
    /// - Returns: `nil` where there would be more than `StoreLimits.chainOctets` of them in memory.
    func shared(_ chain: RecordedChain) -> RecordedChain? {
        state.withLock { state in
            if let known = state.entries[chain.digest]?.chain { return known }
            let count = chain.octets.count
            if state.octets + count > StoreLimits.chainOctets { state.makeRoom() }
            guard state.octets + count <= StoreLimits.chainOctets else { return nil }
            state.octets += count - (state.entries[chain.digest]?.count ?? 0)
            state.entries[chain.digest] = Entry(chain: chain, count: count)
            return chain
        }
    }

    func chain(withDigest digest: [UInt8]) -> RecordedChain? { state.withLock { $0.entries[digest]?.chain } }
}

extension ChainDirectory.State {
    fileprivate mutating func makeRoom() {
        if patience > 0 { return patience -= 1 }
        let before = octets
        forgetGone()
        if octets == before { patience = entries.count / Self.entriesPerRefusal }
    }

    /// Looking at so many takes as long as what else is done for one that is refused.
    private static let entriesPerRefusal = 64

    private mutating func forgetGone() {
        entries = entries.filter { $0.value.chain != nil }
        octets = entries.values.reduce(0) { $0 + $1.count }
    }
}
