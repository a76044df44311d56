import HTTPMessage

/// The conditions of a squid ACL on a request, as far as Larder's rules can express them.
enum SquidACL {
    case everything
    case hosts([String])
    case ports([ClosedRange<UInt16>])
    case methods([String])
    case schemes([String])
    case paths([String])
    /// A scheme, a host and a path, of `url_regex`.
    case urls([SquidURL])
    /// Addresses and ranges of clients.
    case clients([String])
    /// Why Larder cannot express it.
    case inexpressible(String)

    struct SquidURL {
        let scheme: String
        let host: String
        let path: String
    }

    /// The ACLs that squid knows by itself.
    static let predefined: [String: SquidACL] = [
        "all": .everything, "localhost": .clients(["127.0.0.1/32", "::1"]),
        "manager": .inexpressible("Larder has no URL for a cache manager"),
        "to_localhost": .inexpressible("a rule matches the host in the URL, not the IP addresses of the host"),
        "to_linklocal": .inexpressible("a rule matches the host in the URL, not the IP addresses of the host"),
    ]

    /// - Parameter values: the words after the type.
    init(type: String, values: [String]) {
        let options = values.prefix { $0.hasPrefix("-") }
        let values = Array(values.dropFirst(options.count))
        let ignoresCase = options.contains("-i")
        if values.contains(where: { $0.first == "\"" }) {
            self = .inexpressible("its values are in another file")
            return
        }
        switch type {
        case "src": self = values.contains("all") ? .everything : Self.all(values, Self.range) { .clients($0) }
        case "dst":
            self =
                values.contains("all")
                ? .everything : .inexpressible("a rule matches the host in the URL, not the IP addresses of the host")
        case "dstdomain": self = Self.all(values, Self.domain) { .hosts($0.flatMap { $0 }) }
        case "dstdom_regex": self = Self.all(values, SquidRegex.hosts) { .hosts($0.flatMap { $0 }) }
        case "port": self = Self.all(values, Self.port) { .ports($0) }
        case "method": self = .methods(values)
        case "proto": self = Self.all(values, Self.scheme) { .schemes($0) }
        case "urlpath_regex": self = Self.all(values, { SquidRegex.path($0, ignoresCase: ignoresCase) }) { .paths($0) }
        case "url_regex": self = Self.all(values, { SquidRegex.urls($0, ignoresCase: ignoresCase) }) { .urls($0.flatMap { $0 }) }
        default: self = .inexpressible("rules have no key for the type `\(type)`")
        }
    }

    private static func all<Value>(
        _ values: [String], _ read: (String) -> Value?, _ make: ([Value]) -> SquidACL
    ) -> SquidACL {
        var found: [Value] = []
        for value in values {
            guard let one = read(value) else { return .inexpressible("`\(value)` has no counterpart in a rule") }
            found.append(one)
        }
        return found.isEmpty ? .inexpressible("it has no values") : make(found)
    }

    /// `.example.com` is the domain and all hosts below it.
    private static func domain(_ text: String) -> [String]? {
        let name = text.lowercased()
        let hosts = name.first == "." ? [String(name.dropFirst()), "*\(name)"] : [name]
        return hosts.contains { SquidRegex.isHost($0) == false } ? nil : hosts
    }

    private static func range(_ text: String) -> String? { AddressRange(text) == nil ? nil : text }

    private static func port(_ text: String) -> ClosedRange<UInt16>? {
        let ends = text.split(separator: "-").map { UInt16($0) }
        guard (1...2).contains(ends.count), let first = ends.first ?? nil, let last = ends.last ?? nil, 1 <= first, first <= last
        else { return nil }
        return first...last
    }

    private static func scheme(_ text: String) -> String? {
        let name = text.lowercased()
        return ["http", "https"].contains(name) ? name : nil
    }

    /// All requests that this ACL does not match; `nil` if no rule can express that.
    var negated: SquidACL? {
        switch self {
        case .ports(let ranges):
            var free: [ClosedRange<UInt16>] = []
            var next = 1
            for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
                if Int(range.lowerBound) > next { free.append(UInt16(next)...(range.lowerBound - 1)) }
                next = max(next, Int(range.upperBound) + 1)
            }
            if next <= 65_535 { free.append(UInt16(next)...65_535) }
            return free.isEmpty ? nil : .ports(free)
        case .schemes(let names): return Set(names).count == 1 ? .schemes([names[0] == "http" ? "https" : "http"]) : nil
        default: return nil
        }
    }
}
