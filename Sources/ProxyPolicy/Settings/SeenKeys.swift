/// Finds keys that a mapping has twice. The keys of a small mapping are compared with each other; for a large mapping, a set is used.
struct SeenKeys {
    private var set: Set<String>?

    init(count: Int) { set = count > 16 ? [] : nil }

    /// - Parameter earlier: the keys that were inserted before.
    /// - Returns: whether the key is new.
    mutating func insert(_ key: String, after earlier: some Sequence<String>) -> Bool {
        set?.insert(key).inserted ?? !earlier.contains(key)
    }
}
