import EventLoop
import HTTPCaching

/// The certificate chains of responses in memory, one instance each, however many responses share it.
///
/// It holds weak references: a chain is released with the last response that uses it. Entries of released chains are removed when space
/// is needed, so the counted size is never less than the actual size.
final class ChainDirectory: Sendable {
    fileprivate struct Entry {
        weak var chain: RecordedChain?
        let count: Int
    }

    fileprivate struct State {
        var entries: [[UInt8]: Entry] = [:]
        var octets = 0
        /// The number of chains to reject before the next search for released entries, which takes time proportional to the number of
        /// entries.
        var patience = 0
    }

    private let state = Guarded(State())

    /// The shared instance of this chain. If there is none yet, the passed instance becomes the shared one.
    /// - Returns: `nil` if the chains in memory would exceed `StoreLimits.chainOctets` bytes.
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

    /// Checking this many entries takes as long as the other work for a rejected chain.
    private static let entriesPerRefusal = 64

    private mutating func forgetGone() {
        entries = entries.filter { $0.value.chain != nil }
        octets = entries.values.reduce(0) { $0 + $1.count }
    }
}
