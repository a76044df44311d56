/// The batches whose signature was verified. The oldest are forgotten first.
struct KnownRoots {
    private var roots: Set<SHA256Words> = []
    private var order: [SHA256Words] = []
    /// The place in `order` of the oldest root, once the limit is reached.
    private var oldest = 0
    private let limit: Int

    init(limit: Int) { self.limit = max(1, limit) }

    var count: Int { roots.count }

    func contains(_ root: SHA256Words) -> Bool { roots.contains(root) }

    mutating func insert(_ root: SHA256Words) {
        guard roots.insert(root).inserted else { return }
        if order.count < limit {
            order.append(root)
            return
        }
        roots.remove(order[oldest])
        order[oldest] = root
        oldest = (oldest + 1) % limit
    }

    /// Stands for a batch: its signer, time, number of entries and signature, and its root. A batch with a different signature is a different
    /// one, even if the root is the same.
    static func mark(batch: Span<UInt8>, root: SHA256Words, by context: SHA256Context) -> SHA256Words {
        root.withBytes { context.digest(batch, $0) }
    }
}
