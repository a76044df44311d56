import ResponseStore

/// Where stored responses stand.
enum StoreTier: CaseIterable, Sendable {
    case memory
    /// Memory lets go of each response as it comes: what is stored is found in the file.
    case disk

    var storePath: String? { self == .memory ? ":memory:" : nil }

    func adjust(_ store: inout StoreConfiguration) {
        if self == .disk { store.memory = .init(high: 0, low: 0) }
    }
}
