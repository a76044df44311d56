import HTTPMessage

/// The conditions of a squid ACL on a request, as far as Larder's rules can express them. A request has to match one of the values.
struct SquidACL {
    /// The scheme, host and path in a `url_regex`. The port is the default port of the scheme.
    struct URLPrefix: Equatable {
        let scheme: String
        let host: String
        let path: String
    }

    /// The type of the ACL. In squid, all lines with one name form one list, which has one type.
    let type: String
    var isEverything = false
    /// Whether the ACL is for the paths of squid's cache manager.
    var isManager = false
    private(set) var hosts: [String] = []
    private(set) var ports: [ClosedRange<UInt16>] = []
    private(set) var methods: [String] = []
    private(set) var forms: Set<SquidForm> = []
    private(set) var paths: [String] = []
    private(set) var urls: [URLPrefix] = []
    /// Addresses and ranges of clients.
    private(set) var clients: [String] = []
    /// Addresses and ranges of the servers to which requests are sent.
    private(set) var destinations: [String] = []
    /// Why Larder's rules cannot express the whole ACL; `nil` if they can.
    private(set) var fault: String?

    init(type: String) { self.type = type }

    /// The ACLs that every squid.conf has without defining them.
    static var predefined: [String: SquidACL] {
        func acl(_ type: String, _ values: String...) -> SquidACL {
            var acl = SquidACL(type: type)
            _ = acl.add(values)
            return acl
        }
        var manager = SquidACL(type: "url_regex")
        manager.isManager = true
        return [
            "all": acl("src", "all"), "localhost": acl("src", "127.0.0.1/32", "::1"), "connect": acl("method", "CONNECT"),
            "to_localhost": acl("dst", "127.0.0.0/8", "0.0.0.0/32", "::1", "::"),
            "to_linklocal": acl("dst", "169.254.0.0/16", "fe80::/10"), "manager": manager,
        ]
    }

    var isEmpty: Bool {
        hosts.isEmpty && ports.isEmpty && methods.isEmpty && forms.isEmpty && paths.isEmpty && urls.isEmpty && clients.isEmpty
            && destinations.isEmpty && !isEverything && !isManager
    }

    /// Marks the ACL as one that Larder's rules cannot express.
    /// - Parameter reason: why they cannot. Only the first reason is kept.
    mutating func spoil(_ reason: String) { if fault == nil { fault = reason } }

    /// Adds the words that follow the ACL's type in a line.
    /// - Returns: a remark about values that never match; `nil` if there are none.
    mutating func add(_ words: [String]) -> String? {
        let isExpression = ["dstdom_regex", "urlpath_regex", "url_regex"].contains(type)
        var ignoresCase = false
        var areOptions = true
        var remark: String?
        for word in words {
            let isCase = isExpression && (word == "-i" || word == "+i")
            if isCase || areOptions && word.hasPrefix("-") {
                if isCase { ignoresCase = word == "-i" }
                if ["-i", "+i", "-n", "--"].contains(word) { continue }
                // This option changes how squid compares the values, so the ACL cannot be expressed.
                spoil("rules have no equivalent of the option `\(word)`")
                return remark
            }
            areOptions = false
            if word.hasPrefix("\"") || word.hasPrefix("parameters(") {
                spoil("the values are in another file, which Larder does not read")
            } else if type == "dstdomain", word.contains("*") {
                remark = "`\(word)` never matches in squid: dstdomain does not support `*`"
            } else if !read(word, ignoresCase: ignoresCase) {
                spoil(
                    Self.types.contains(type)
                        ? "`\(word)` has no equivalent in a rule" : "rules have no equivalent of the type `\(type)`")
            }
        }
        return remark
    }

    private static let types = [
        "src", "dst", "dstdomain", "dstdom_regex", "port", "method", "proto", "urlpath_regex", "url_regex",
    ]

    /// - Returns: whether a rule can express the word.
    private mutating func read(_ word: String, ignoresCase: Bool) -> Bool {
        func add<Value>(_ value: Value?, to list: inout [Value]) -> Bool {
            if let value { list.append(value) }
            return value != nil
        }
        func add<Value>(all values: [Value]?, to list: inout [Value]) -> Bool {
            list += values ?? []
            return values != nil
        }
        switch type {
        case "src", "dst":
            if word == "all" {
                isEverything = true
                return true
            }
            return type == "src" ? add(SquidAddress.range(word), to: &clients) : add(SquidAddress.range(word), to: &destinations)
        case "dstdomain": return add(all: Self.domain(word), to: &hosts)
        case "dstdom_regex": return add(all: SquidRegex.hosts(word), to: &hosts)
        case "port": return add(Self.port(word), to: &ports)
        case "method": return add(Self.method(word), to: &methods)
        case "proto":
            // A word for another scheme is ignored, because Larder supports only http and https.
            if let form = SquidForm(scheme: word) { forms.insert(form) }
            return true
        case "urlpath_regex": return add(SquidRegex.path(word, ignoresCase: ignoresCase), to: &paths)
        case "url_regex": return add(all: SquidRegex.urls(word, ignoresCase: ignoresCase), to: &urls)
        default: return false
        }
    }

    /// In squid, `.example.com` means the domain and all hosts below it.
    private static func domain(_ text: String) -> [String]? {
        let name = text.lowercased()
        let hosts = name.first == "." ? [String(name.dropFirst()), "*\(name)"] : [name]
        return hosts.contains { SquidRegex.isHost($0) == false } ? nil : hosts
    }

    private static func port(_ text: String) -> ClosedRange<UInt16>? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt16($0) }
        guard (1...2).contains(ends.count), let first = ends.first ?? nil, let last = ends.last ?? nil, 1 <= first, first <= last
        else { return nil }
        return first...last
    }

    /// For the methods that squid knows, squid ignores case.
    private static func method(_ text: String) -> String? {
        guard !text.isEmpty, text.utf8.allSatisfy(ASCII.isTokenCharacter) else { return nil }
        let upper = text.uppercased()
        return Method.allCases.contains { $0 != .other && "\($0.name)" == upper } || upper == "PURGE" ? upper : text
    }
}

/// The forms in which a client can send a request to a proxy.
enum SquidForm: CaseIterable {
    case http
    /// A request for an https URL that is sent to the proxy itself, not through a tunnel.
    case https
    case connect

    init?(scheme: String) {
        switch scheme.lowercased() {
        case "http": self = .http
        case "https": self = .https
        default: return nil
        }
    }
}

enum SquidAddress {
    /// An address or a range, which may have a mask as in `10.0.0.0/255.0.0.0`.
    static func range(_ text: String) -> String? {
        if AddressRange(text) != nil { return text }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let mask = IPAddress(parts[1]), mask.family == .ipv4, IPAddress(parts[0])?.family == .ipv4 else {
            return nil
        }
        let bits = UInt32(truncatingIfNeeded: mask.low)
        let length = (~bits).leadingZeroBitCount
        // In a valid mask, all one bits come first.
        guard length == 32 || bits << UInt32(length) == 0 else { return nil }
        return AddressRange("\(parts[0])/\(length)") == nil ? nil : "\(parts[0])/\(length)"
    }
}
