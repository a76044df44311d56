import HTTPMessage

/// The hosts of `no_proxy`, matched as curl 7.86 and later match them: names with the names below them, addresses, and blocks of
/// addresses (CIDR). A single star means every host.
struct NoProxyList: Sendable {
    private enum Entry: Sendable {
        case name([UInt8])
        /// The first bits of an address.
        case block(IPAddress, bits: Int)
    }

    private let isEverything: Bool
    private let entries: [Entry]

    init(_ text: String) {
        isEverything = text == "*"
        // A comma or a blank separates entries.
        entries = text.split { $0 == "," || $0 == " " || $0 == "\t" }.compactMap { Self.block($0) ?? Self.name($0) }
    }

    private static func block(_ word: Substring) -> Entry? {
        let parts = word.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        let width = address.family == .ipv4 ? 32 : 128
        // As in curl, the length 0 means the address alone.
        guard parts.count > 1, let bits = Int(parts[1]), bits != 0 else { return .block(address, bits: width) }
        return (1...width).contains(bits) ? .block(address, bits: bits) : nil
    }

    private static func name(_ word: Substring) -> Entry? {
        var name = Array(word.lowercased().utf8)
        if name.last == UInt8(ascii: ".") { name.removeLast() }
        if name.first == UInt8(ascii: ".") { name.removeFirst() }
        return name.isEmpty ? nil : .name(name)
    }

    /// - Parameter host: in lower case; an IPv6 address without brackets.
    func includes(_ host: String) -> Bool {
        if isEverything { return true }
        if entries.isEmpty { return false }
        let address = IPAddress(host)
        var name = Array(host.utf8)
        if name.last == UInt8(ascii: ".") { name.removeLast() }
        return entries.contains { entry in
            switch entry {
            case .block(let network, let bits): address.map { Self.begin($0, network, withSame: bits) } ?? false
            case .name(let suffix): address == nil && Self.isName(name, atOrBelow: suffix)
            }
        }
    }

    private static func begin(_ one: IPAddress, _ other: IPAddress, withSame bits: Int) -> Bool {
        guard one.family == other.family else { return false }
        if one.family == .ipv4 { return (one.low ^ other.low) >> UInt64(32 - bits) == 0 }
        if bits <= 64 { return (one.high ^ other.high) >> UInt64(64 - bits) == 0 }
        return one.high == other.high && (one.low ^ other.low) >> UInt64(128 - bits) == 0
    }

    private static func isName(_ name: [UInt8], atOrBelow suffix: [UInt8]) -> Bool {
        if name == suffix { return true }
        return name.count > suffix.count && name.suffix(suffix.count) == suffix[...]
            && name[name.count - suffix.count - 1] == UInt8(ascii: ".")
    }
}
