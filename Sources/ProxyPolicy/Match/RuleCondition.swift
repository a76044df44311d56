import HTTPMessage

/// A rule's conditions on a request besides its host, which the index has already checked. An empty list matches all requests.
package struct RuleCondition: Sendable {
    package var hosts: [HostPattern] = []
    package var schemes: [RequestTarget.Scheme] = []
    package var ports: [ClosedRange<UInt16>] = []
    package var methods: [MethodName] = []
    package var paths: [PathPattern] = []
    /// All must match.
    package var queries: [QueryCondition] = []
    package var fields: [FieldCondition] = []

    /// A method in a rule; methods are case-sensitive (RFC 9110 §9.1).
    package struct MethodName: Equatable, Sendable {
        package let method: Method
        package let bytes: [UInt8]

        /// - Returns: `nil` if the text is not a token.
        package init?(_ text: String) {
            let bytes = Array(text.utf8)
            guard !bytes.isEmpty, bytes.allSatisfy(ASCII.isTokenCharacter) else { return nil }
            self.bytes = bytes
            method = Method(bytes.span)
        }
    }

    package init() {}

    var namesHosts: Bool { !hosts.isEmpty && !hosts.contains(.any) }

    /// - Parameter readings: the other readings of the path, which are also checked if the rule denies.
    func matches(_ request: RequestHead, readings: inout RequestReadings, denies: Bool) -> Bool {
        matchesBesidesPath(request, as: denies ? .any : .asSent, &readings)
            && matchesPath(of: request, readings: &readings.path, denies: denies)
    }

    /// Whether a tunnel to the host can be allowed by this condition: it hides its requests, so a rule that looks at them cannot.
    var allowsTunnels: Bool {
        methods.isEmpty && queries.isEmpty && fields.isEmpty && paths.allSatisfy { $0.matchesEveryPath }
    }

    /// As `matches`, but for the path.
    func matchesBesidesPath(_ request: RequestHead, as readings: MatchedReadings, _ known: inout RequestReadings) -> Bool {
        guard matchesScheme(of: request), matchesPort(of: request), matchesMethod(of: request) else { return false }
        for query in queries where !known.query.match(query, in: request, as: readings) { return false }
        for field in fields where !field.matches(request, as: readings, scratch: &known.field) { return false }
        return true
    }

    /// The readings of the request's path that this rule allows: a bit for each, as in `PathReadings.finalReadings`.
    func allowedReadings(of request: RequestHead, readings: inout PathReadings) -> UInt64 {
        if paths.isEmpty { return .max }
        switch request.target.form {
        case .authority, .asterisk: return paths.contains { $0.matchesEveryPath } ? .max : 0
        case .origin, .absolute:
            if request.target.path.isEmpty { return allowedReadings(of: Self.root.span, readings: &readings) }
            return allowedReadings(of: request.span(of: request.target.path), readings: &readings)
        }
    }

    private func allowedReadings(of path: Span<UInt8>, readings: inout PathReadings) -> UInt64 {
        var bits: UInt64 = 0
        for pattern in paths {
            if pattern.matchesEveryPath { return .max }
            bits |= readings.readings(of: path, matching: pattern.decoded)
        }
        return bits
    }

    /// The readings that have to be allowed.
    static func finalReadings(of request: RequestHead, readings: inout PathReadings) -> UInt64 {
        switch request.target.form {
        case .authority, .asterisk: 1
        case .origin, .absolute:
            request.target.path.isEmpty ? 1 : readings.finalReadings(of: request.span(of: request.target.path))
        }
    }

    /// Whether some request to an origin of this scheme and port matches, whatever its method and path.
    func mayMatch(scheme: RequestTarget.Scheme, port: UInt16) -> Bool {
        (schemes.isEmpty || schemes.contains(scheme)) && (ports.isEmpty || ports.contains { $0.contains(port) })
    }

    /// The content of a tunnel is not visible; a tunnel counts as https, since clients request tunnels for https.
    private func matchesScheme(of request: RequestHead) -> Bool {
        schemes.isEmpty || schemes.contains(request.target.form == .authority ? .https : request.target.scheme)
    }

    private func matchesPort(of request: RequestHead) -> Bool {
        guard !ports.isEmpty else { return true }
        for range in ports where range.contains(request.target.port) { return true }
        return false
    }

    private func matchesMethod(of request: RequestHead) -> Bool {
        guard !methods.isEmpty else { return true }
        for name in methods where name.method == request.method {
            if name.method != .other || request.span(of: request.methodName).equals(name.bytes.span) { return true }
        }
        return false
    }

    func matchesPath(of request: RequestHead, readings: inout PathReadings, denies: Bool) -> Bool {
        guard !paths.isEmpty else { return true }
        switch request.target.form {
        case .authority, .asterisk:
            for pattern in paths where pattern.matchesEveryPath { return true }
            return false
        case .origin, .absolute:
            // An empty path is the root (RFC 9110 §4.2.3).
            if request.target.path.isEmpty { return matchesPath(Self.root.span, readings: &readings, denies: denies) }
            return matchesPath(request.span(of: request.target.path), readings: &readings, denies: denies)
        }
    }

    /// Whether any reading of the path matches the pattern, which may be written with escapes.
    private func matches(_ pattern: PathPattern, readings: inout PathReadings, of path: Span<UInt8>) -> Bool {
        if readings.containsMatch(of: pattern, for: path) { return true }
        let decoded = pattern.decoded
        return decoded !== pattern && (decoded.matches(path) || readings.containsMatch(of: decoded, for: path))
    }

    private func matchesPath(_ path: Span<UInt8>, readings: inout PathReadings, denies: Bool) -> Bool {
        for pattern in paths {
            if pattern.matches(path) { return true }
            if denies, matches(pattern, readings: &readings, of: path) { return true }
        }
        return false
    }

    private static let root = [ASCII.slash]
}
