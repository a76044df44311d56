import HTTPMessage

/// Finds the rules that name a host, without looking at the others.
///
/// One pass over the host from its end keeps a running hash; at each dot it is the hash of the suffix behind the dot, at the
/// beginning that of the whole name. Each is one probe into a table that is at most half full.
struct HostIndex: Sendable {
    private struct Entry: Sendable {
        let pattern: HostPattern
        let hash: UInt64
        /// In rising order.
        var rules: [Int]
    }

    private var entries: [Entry] = []
    /// Number of an entry plus one, or 0; the count is a power of two.
    private var slots: [UInt32] = []
    private var hasSuffixes = false

    init(_ rules: some Sequence<(number: Int, patterns: [HostPattern])>) {
        var places: [HostPattern: Int] = [:]
        for (number, patterns) in rules {
            for pattern in patterns where pattern.kind != .any {
                if let place = places[pattern] {
                    if entries[place].rules.last != number { entries[place].rules.append(number) }
                } else {
                    places[pattern] = entries.count
                    entries.append(Entry(pattern: pattern, hash: Self.hash(of: pattern), rules: [number]))
                }
            }
        }
        guard !entries.isEmpty else { return }
        hasSuffixes = entries.contains { $0.pattern.kind == .suffix }
        var size = 8
        while size < entries.count * 2 { size *= 2 }
        slots = Array(repeating: 0, count: size)
        for (number, entry) in entries.enumerated() {
            var slot = Self.slot(of: entry.hash, in: size)
            while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
            slots[slot] = UInt32(number + 1)
        }
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Whether any rule names this host, which has no trailing dot. Its letters may be of either case.
    func containsMatch(of host: Span<UInt8>) -> Bool {
        guard !entries.isEmpty else { return false }
        var found = false
        forEachEntry(matching: host) { _ in found = true }
        return found
    }

    /// Adds the rules that name this host.
    func insertRules(naming host: Span<UInt8>, into numbers: inout RuleNumbers) {
        guard !entries.isEmpty else { return }
        forEachEntry(matching: host) { entry in
            for rule in entries[entry].rules { numbers.insert(rule) }
        }
    }

    @inline(__always)
    private func forEachEntry(matching host: Span<UInt8>, _ body: (Int) -> Void) {
        var hash = Self.seed
        var index = host.count
        while index > 0 {
            index -= 1
            let byte = ASCII.lowercased(host[index])
            if byte == Self.dot, hasSuffixes, index > 0 {
                if let entry = entry(.suffix, at: index + 1, of: host, hash: Self.finished(hash, .suffix)) { body(entry) }
            }
            hash = (hash ^ UInt64(byte)) &* Self.prime
        }
        if let entry = entry(.exact, at: 0, of: host, hash: Self.finished(hash, .exact)) { body(entry) }
    }

    /// The entry whose name stands in `host` from `start` to its end.
    private func entry(_ kind: HostPattern.Kind, at start: Int, of host: Span<UInt8>, hash: UInt64) -> Int? {
        var slot = Self.slot(of: hash, in: slots.count)
        while slots[slot] != 0 {
            let number = Int(slots[slot]) - 1
            if entries[number].hash == hash, isName(of: number, kind, at: start, of: host) { return number }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    private func isName(of entry: Int, _ kind: HostPattern.Kind, at start: Int, of host: Span<UInt8>) -> Bool {
        let pattern = entries[entry].pattern
        return pattern.kind == kind && host.extracting(start..<host.count).equalsIgnoringCase(pattern.name.span)
    }

    // FNV-1a. The table is fixed by the settings, so a client who knows the function gains one longer probe and no more.
    private static let seed: UInt64 = 0xCBF2_9CE4_8422_2325
    private static let prime: UInt64 = 0x0000_0100_0000_01B3
    private static let dot = UInt8(ascii: ".")

    private static func finished(_ hash: UInt64, _ kind: HostPattern.Kind) -> UInt64 {
        let mixed = (hash ^ UInt64(kind.rawValue)) &* prime
        return mixed ^ mixed >> 32
    }

    private static func slot(of hash: UInt64, in size: Int) -> Int { Int(truncatingIfNeeded: hash) & (size - 1) }

    private static func hash(of pattern: HostPattern) -> UInt64 {
        var hash = seed
        for byte in pattern.name.reversed() { hash = (hash ^ UInt64(byte)) &* prime }
        return finished(hash, pattern.kind)
    }
}
