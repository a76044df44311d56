import HTTPMessage

/// Finds the rules that name a host, without examining the other rules.
///
/// One pass over the host name, from its end, computes a running hash. At each dot, this is the hash of the suffix after the dot; at
/// the beginning of the name, it is the hash of the whole name. Each hash is looked up in a table that is at most half full.
struct HostIndex: Sendable {
    private struct Entry: Sendable {
        let name: [UInt8]
        let isSuffix: Bool
        let hash: UInt64
        let rules: Range<Int>
    }

    /// A host and its rules, while the index is made.
    private struct Named {
        let pattern: HostPattern
        var rules: [UInt32]
    }

    /// The numbers of rules. Lists follow one another, and each list is in ascending order.
    private(set) var numbers: [UInt32] = []
    /// The rules that apply to any host. Like all lists here, this is a range of positions in `numbers`.
    private(set) var hostless: Range<Int> = 0..<0
    /// The rules that name a host.
    private(set) var naming: Range<Int> = 0..<0

    private var entries: [Entry] = []
    /// Each slot has an entry's index plus one; 0 marks an empty slot. The number of slots is a power of two.
    private var slots: [UInt32] = []
    private var hasSuffixes = false
    /// The rules that name an address, by address. An IPv4-mapped address has the form of its IPv4 address here.
    private var addresses: [IPAddress: Range<Int>] = [:]
    /// The rules that match IPv6 addresses because these embed an IPv4 address, by that IPv4 address.
    private var embedded: [IPAddress: Range<Int>] = [:]

    /// - Parameter rules: for each rule, `hosts` are its hosts (empty for any host), and `isExact` says whether an IPv4 address in the
    ///   rule matches only itself. An exact address does not match IPv6 addresses that embed it. The addresses of rules that allow are
    ///   exact.
    init(_ rules: some Sequence<(hosts: [HostPattern], isExact: Bool)>) {
        var places: [HostPattern: Int] = [:]
        var named: [Named] = []
        var hostless: [UInt32] = []
        var naming: [UInt32] = []
        var everySpelling: [IPAddress: [UInt32]] = [:]
        for (number, rule) in rules.enumerated() {
            if rule.hosts.isEmpty { hostless.append(UInt32(number)) } else { naming.append(UInt32(number)) }
            var patterns = rule.hosts
            for case .address(let address) in rule.hosts where !rule.isExact {
                let inner = HostPattern.canonical(address)
                guard inner.family == .ipv4 else { continue }
                everySpelling[inner, default: []].append(UInt32(number))
                if inner != address { patterns.append(.address(inner)) }
            }
            for pattern in patterns {
                if let place = places[pattern] {
                    named[place].rules.append(UInt32(number))
                } else {
                    places[pattern] = named.count
                    named.append(Named(pattern: pattern, rules: [UInt32(number)]))
                }
            }
        }
        self.hostless = list(hostless)
        self.naming = list(naming)
        for host in named { note(host) }
        for (address, rules) in everySpelling { embedded[address] = list(rules) }
        if !entries.isEmpty { fillSlots() }
    }

    /// Whether any rule names the host of this target, whose bytes are in `head`.
    func containsMatch(of target: RequestTarget, in head: RequestHead) -> Bool {
        var found = false
        forEachMatch(of: head.span(of: target.host), target.hostKind) { _ in found = true }
        return found
    }

    /// Adds the rules that name the host of this target.
    func addRules(naming target: RequestTarget, in head: RequestHead, to candidates: inout RuleCandidates) {
        addRules(naming: head.span(of: target.host), target.hostKind, to: &candidates)
    }

    func addRules(naming host: Span<UInt8>, _ kind: RequestTarget.HostKind, to candidates: inout RuleCandidates) {
        forEachMatch(of: host, kind) { candidates.add($0) }
    }

    @inline(__always)
    private func forEachMatch(of host: Span<UInt8>, _ kind: RequestTarget.HostKind, _ body: (Range<Int>) -> Void) {
        switch kind {
        case .name:
            if !entries.isEmpty { forEachName(matching: host, body) }
            guard !addresses.isEmpty, let address = IPAddress(asLookedUp: host) else { return }
            forEachList(of: address, body)
        case .ipv4, .ipv6:
            guard !addresses.isEmpty, let address = IPAddress(host) else { return }
            forEachList(of: address, body)
        }
    }

    private func forEachList(of address: IPAddress, _ body: (Range<Int>) -> Void) {
        let plain = address.unmapped
        if let rules = addresses[plain] { body(rules) }
        guard case .ipv6 = plain.family, !embedded.isEmpty else { return }
        let inner = HostPattern.canonical(plain)
        if inner != plain, let rules = embedded[inner] { body(rules) }
        guard let teredo = plain.teredoAddresses else { return }
        if let rules = embedded[teredo.client] { body(rules) }
        if let rules = embedded[teredo.server] { body(rules) }
    }

    @inline(__always)
    private func forEachName(matching host: Span<UInt8>, _ body: (Range<Int>) -> Void) {
        var hash = Self.seed
        var index = host.count
        while index > 0 {
            index -= 1
            let byte = Self.folded(host[index])
            if byte == Self.dot, hasSuffixes, index > 0 {
                let hash = Self.finished(hash, isSuffix: true)
                if let entry = entry(at: index + 1, of: host, isSuffix: true, hash: hash) { body(entries[entry].rules) }
            }
            hash = (hash ^ UInt64(byte)) &* Self.prime
        }
        hash = Self.finished(hash, isSuffix: false)
        if let entry = entry(at: 0, of: host, isSuffix: false, hash: hash) { body(entries[entry].rules) }
    }

    /// The entry whose name equals the part of `host` from `start` to the end.
    private func entry(at start: Int, of host: Span<UInt8>, isSuffix: Bool, hash: UInt64) -> Int? {
        var slot = Self.slot(of: hash, in: slots.count)
        while slots[slot] != 0 {
            let number = Int(slots[slot]) - 1
            if entries[number].hash == hash, isName(of: number, at: start, of: host, isSuffix: isSuffix) { return number }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    private func isName(of entry: Int, at start: Int, of host: Span<UInt8>, isSuffix: Bool) -> Bool {
        guard entries[entry].isSuffix == isSuffix else { return false }
        let name = entries[entry].name
        return host.extracting(start..<host.count).equalsIgnoringCase(name.span)
    }

    // MARK: Building

    private mutating func list(_ rules: [UInt32]) -> Range<Int> {
        let start = numbers.count
        for rule in rules where numbers.count == start || numbers.last != rule { numbers.append(rule) }
        return start..<numbers.count
    }

    private mutating func note(_ named: Named) {
        let rules = list(named.rules)
        switch named.pattern {
        case .any: break
        case .address(let address): addresses[address] = rules
        case .name(let name):
            entries.append(Entry(name: name, isSuffix: false, hash: Self.hash(of: name, isSuffix: false), rules: rules))
        case .below(let name):
            entries.append(Entry(name: name, isSuffix: true, hash: Self.hash(of: name, isSuffix: true), rules: rules))
        }
    }

    private mutating func fillSlots() {
        hasSuffixes = entries.contains { $0.isSuffix }
        var size = 8
        while size < entries.count * 2 { size *= 2 }
        slots = Array(repeating: 0, count: size)
        for (number, entry) in entries.enumerated() {
            var slot = Self.slot(of: entry.hash, in: size)
            while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
            slots[slot] = UInt32(number + 1)
        }
    }

    // FNV-1a hash. Only the settings determine the entries of the table, so a client that knows the function can cause only
    // slightly longer look-ups.
    private static let seed: UInt64 = 0xCBF2_9CE4_8422_2325
    private static let prime: UInt64 = 0x0000_0100_0000_01B3
    private static let dot = UInt8(ascii: ".")

    /// Folds case for hashing. The upper-case and lower-case form of a letter become one value, and all other bytes of host names keep
    /// different values.
    @inline(__always)
    private static func folded(_ byte: UInt8) -> UInt8 { byte | 0x20 }

    private static func finished(_ hash: UInt64, isSuffix: Bool) -> UInt64 {
        let mixed = (hash ^ (isSuffix ? 1 : 2)) &* prime
        return mixed ^ mixed >> 32
    }

    private static func slot(of hash: UInt64, in size: Int) -> Int { Int(truncatingIfNeeded: hash) & (size - 1) }

    private static func hash(of name: [UInt8], isSuffix: Bool) -> UInt64 {
        var hash = seed
        for byte in name.reversed() { hash = (hash ^ UInt64(folded(byte))) &* prime }
        return finished(hash, isSuffix: isSuffix)
    }
}
