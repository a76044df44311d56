import HTTPMessage

/// A rule's conditions on a request. The index has already checked the host. All conditions must match; an empty list matches all
/// requests.
package struct RuleCondition: Sendable {
    package var hosts: [HostPattern] = []
    package var schemes: [RequestTarget.Scheme] = []
    package var ports: [ClosedRange<UInt16>] = []
    package var methods: [MethodName] = []
    package var paths: [PathPattern] = []
    /// The conditions on the query; all must match.
    package var queries: [QueryCondition] = []
    package var fields: [FieldCondition] = []
    /// The permitted lengths of the content, in bytes.
    package var contentLengths: [ClosedRange<UInt64>] = []
    /// The requests of the named operations, as conditions without hosts. A request has to meet one of these conditions.
    package var operations: [RuleCondition] = []
    package var client = ClientCondition()
    /// Exclusions: a request that matches one of these conditions, including its hosts, does not match this condition.
    package var exclusions: [RuleCondition] = []
    /// The other keys of `match`, as a text that is only compared as a whole, for tools that compare rules. Empty if there are none.
    package var otherWords: [UInt8] = []

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

    /// The hosts that the condition names; empty if it is for any host.
    var namedHosts: [HostPattern] { namesHosts ? hosts : [] }

    /// Whether this condition can allow a tunnel to the host. A tunnel hides its requests, so a condition that looks at them cannot
    /// allow the tunnel.
    package var allowsTunnels: Bool { !looksInside && exclusions.allSatisfy { !$0.looksInsideAsExclusion } }

    /// Whether the condition looks at the requests inside a tunnel. A condition that names only hosts, ports, schemes and the client
    /// does not.
    private var looksInside: Bool {
        !methods.isEmpty || !queries.isEmpty || !fields.isEmpty || !contentLengths.isEmpty
            || !operations.isEmpty || !paths.allSatisfy { $0.matchesEveryPath }
    }

    /// Whether this condition, used as an exclusion, looks at the requests inside a tunnel. A tunnel is treated as https, but requests
    /// inside it may have the excluded scheme.
    private var looksInsideAsExclusion: Bool { looksInside || !schemes.isEmpty }

    /// Whether some requests to an origin may fail to match, although the condition allows tunnels to the origin.
    var dependsOnRequest: Bool { !client.isEmpty || !exclusions.isEmpty }

    /// Whether the condition depends on the client.
    var looksAtClients: Bool { !client.isEmpty || exclusions.contains { !$0.client.isEmpty } }

    /// Whether the condition depends on the scheme or the port of a request.
    var looksAtOrigin: Bool { !schemes.isEmpty || !ports.isEmpty || exclusions.contains { $0.looksAtOrigin } }

    /// Whether the condition depends only on the URI and the method of a request.
    var looksAtTargetOnly: Bool {
        fields.isEmpty && contentLengths.isEmpty && client.isEmpty && exclusions.allSatisfy { $0.looksAtTargetOnly }
    }

    func matches(
        _ request: RequestHead, _ facts: borrowing RequestFacts, as readings: MatchedReadings, _ known: inout RequestReadings
    ) -> Bool {
        matchesBesidesPath(request, facts, as: readings, &known) && matchesPath(of: request, facts, as: readings, &known)
    }

    /// Like `matches`, but does not compare the path.
    func matchesBesidesPath(
        _ request: RequestHead, _ facts: borrowing RequestFacts, as readings: MatchedReadings, _ known: inout RequestReadings
    ) -> Bool {
        guard matchesScheme(of: request), matchesPort(of: request), matchesMethod(of: request) else { return false }
        if !client.isEmpty, !client.matches(facts.client, as: readings) { return false }
        if !contentLengths.isEmpty, !matchesContentLength(of: request, facts, as: readings) { return false }
        if !queries.isEmpty, !matchesQueries(of: request, as: readings, &known) { return false }
        for field in fields where !field.matches(request, as: readings, scratch: &known.field) { return false }
        for exclusion in exclusions where excludes(exclusion, request, facts, as: readings, &known) { return false }
        return true
    }

    /// Whether a request with this scheme and port can match the condition.
    package func mayMatch(scheme: RequestTarget.Scheme, port: UInt16) -> Bool {
        (schemes.isEmpty || schemes.contains(scheme)) && (ports.isEmpty || ports.contains { $0.contains(port) })
    }

    /// Whether requests inside this tunnel can match, as far as its CONNECT request shows.
    func mayMatch(
        inside tunnel: RequestHead, _ facts: borrowing RequestFacts, as readings: MatchedReadings, _ known: inout RequestReadings
    ) -> Bool {
        if !client.isEmpty, !client.matches(facts.client, as: readings) { return false }
        for exclusion in exclusions where !exclusion.looksInsideAsExclusion {
            if excludes(exclusion, tunnel, facts, as: readings, &known) { return false }
        }
        return true
    }

    /// Whether the exclusion applies to the request. A tunnel hides its requests. If the exclusion is about some of them, it
    /// applies to the whole CONNECT request: the rule does not match the CONNECT, and is evaluated for the requests inside.
    private func excludes(
        _ exclusion: RuleCondition, _ request: RequestHead, _ facts: borrowing RequestFacts, as readings: MatchedReadings,
        _ known: inout RequestReadings
    ) -> Bool {
        if case .authority = request.target.form, exclusion.looksInsideAsExclusion { return true }
        let opposite = readings.opposite
        guard exclusion.hosts.isEmpty || exclusion.hosts.contains(where: { $0.matches(request, as: opposite) }) else {
            return false
        }
        return exclusion.matches(request, facts, as: opposite, &known)
    }

    /// The content of a tunnel is not visible; a tunnel is treated as https, since clients request tunnels for https.
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

    private func matchesQueries(
        of request: RequestHead, as readings: MatchedReadings, _ known: inout RequestReadings
    ) -> Bool {
        // A server may take a part of the path as the query. Larder does not know that query.
        if readings != .asSent, known.path.mayHideQuery(request.span(of: request.target.path)) { return readings == .any }
        for query in queries where !known.query.match(query, in: request, as: readings) { return false }
        return true
    }

    private func matchesContentLength(
        of request: RequestHead, _ facts: borrowing RequestFacts, as readings: MatchedReadings
    ) -> Bool {
        if case .authority = request.target.form { return false }
        guard let length = facts.contentLength else { return readings == .any }
        for range in contentLengths where range.contains(length) { return true }
        return false
    }
}
