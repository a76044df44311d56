import ProxyPolicy

/// Makes a tree of settings from octets: any bytes make one, and the right ones make rules.
///
/// The upper two bits of a byte say what comes: a word of the list below, text of the next bytes, a mapping, a list; the
/// lower six which word, how much text, how many entries.
struct SettingsTree {
    private let octets: [UInt8]
    private var index = 0
    private var column = 0

    private static let depthLimit = 6

    static func node(from octets: [UInt8]) -> SettingsNode {
        var tree = SettingsTree(octets: octets)
        return tree.node(depth: 0)
    }

    /// The bytes that make this tree, for the seeds of the corpus.
    static func octets(for node: SettingsNode) -> [UInt8] {
        switch node.value {
        case .scalar(let scalar): octets(for: scalar.text)
        case .mapping(let entries):
            [0x80 | UInt8(min(entries.count, 63))] + entries.prefix(63).flatMap { octets(for: $0.key) + octets(for: $0.value) }
        case .sequence(let nodes): [0xC0 | UInt8(min(nodes.count, 63))] + nodes.prefix(63).flatMap(octets(for:))
        }
    }

    private static func octets(for text: String) -> [UInt8] {
        if let word = words.firstIndex(of: text), word < 64 { return [UInt8(word)] }
        let text = Array(text.utf8.prefix(63))
        return [0x40 | UInt8(text.count)] + text
    }

    private init(octets: [UInt8]) { self.octets = octets }

    private mutating func next() -> UInt8 {
        guard index < octets.count else { return 0 }
        index += 1
        return octets[index - 1]
    }

    private mutating func place() -> SettingsPlace {
        column += 1
        return SettingsPlace(line: 1, column: column)
    }

    private mutating func node(depth: Int) -> SettingsNode {
        let start = place()
        let octet = next()
        let count = Int(octet & 0x3F)
        let isLeaf = depth == Self.depthLimit || index >= octets.count
        switch octet >> 6 {
        case 2 where !isLeaf:
            let entries = (0..<count).prefix { _ in index < octets.count }.map { _ in
                SettingsNode.Entry(key: text(next()).text, at: place(), value: node(depth: depth + 1))
            }
            return SettingsNode(.mapping(entries), at: start)
        case 3 where !isLeaf:
            return SettingsNode(
                .sequence((0..<count).prefix { _ in index < octets.count }.map { _ in node(depth: depth + 1) }), at: start)
        default: return SettingsNode(.scalar(text(octet)), at: start)
        }
    }

    private mutating func text(_ octet: UInt8) -> SettingsScalar {
        let count = Int(octet & 0x3F)
        guard octet >> 6 == 1 else { return SettingsScalar(Self.words[count % Self.words.count]) }
        let end = min(index + count, octets.count)
        defer { index = end }
        return SettingsScalar(String(decoding: octets[index..<end], as: UTF8.self), isQuoted: true)
    }

    private static let words = [
        "", "name", "match", "deny", "request", "response", "cache", "validate", "host", "port", "scheme", "path", "method",
        "reason",
        "default", "set", "append", "remove", "policy", "store", "ttl", "max_size", "unsafe", "status", "content_type", "replace",
        "wellformed", "on_failure", "oversize", "max_body", "a.example", "*.a.example", "*", "10.0.0.1", "::1", "443",
        "8000-8999", "http",
        "https", "/", "/a/**", "/**/*.js", "GET", "CONNECT", "X-Field", "Host", "Content-Length", "use_protocol", "stored_only",
        "never",
        "5m", "16MiB", "true", "200-299", "304", "application/json", "*/*+json", "json", "block", "annotate", "pass", "stale",
        "null", "1",
    ]
}
