import Synchronization

/// The one gate through which everything leaves: asked before a name is looked up, a connection made or a pooled one used.
/// Shared by all loops.
package final class EgressGate: Sendable {
    private let closed: Atomic<Bool>

    package init(isOpen: Bool = true) { closed = Atomic(!isOpen) }

    package var isOpen: Bool { !closed.load(ordering: .relaxed) }

    package func open() { closed.store(false, ordering: .relaxed) }

    /// Exchanges under way go on; new ones fail with `egressClosed`.
    package func close() { closed.store(true, ordering: .relaxed) }
}
