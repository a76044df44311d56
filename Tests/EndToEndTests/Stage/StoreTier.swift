import ResponseStore

/// Where the store keeps its responses.
enum StoreTier: CaseIterable, Sendable {
    case memory
    /// Memory evicts each response at once, so stored responses are read from the file.
    case disk

    var storePath: String? { self == .memory ? ":memory:" : nil }

    func adjust(_ store: inout StoreConfiguration) {
        if self == .disk { store.memory = .init(high: 0, low: 0) }
    }
}
