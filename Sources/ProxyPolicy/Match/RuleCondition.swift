import HTTPMessage

/// A rule's conditions on a request besides its host, which the index has already checked. All must match; an empty list matches all
/// requests.
package struct RuleCondition: Sendable {
    package var hosts: [HostPattern] = []
    package var schemes: [RequestTarget.Scheme] = []
    package var ports: [ClosedRange<UInt16>] = []
    package var methods: [MethodName] = []
    package var paths: [PathPattern] = []
    /// All must match.
    package var queries: [QueryCondition] = []
    package var fields: [FieldCondition] = []
    /// In bytes.
    package var contentLengths: [ClosedRange<UInt64>] = []
    /// The requests of the named operations, as conditions without hosts: a request has to meet one.
    package var operations: [RuleCondition] = []
    package var client = ClientCondition()
    /// No request that matches one of these, its hosts included, matches this condition.
    package var exclusions: [RuleCondition] = []
    /// The other keys of the match, as opaque text: for tools that compare rules. Empty if there are none.
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

    /// Whether a tunnel to the host can be allowed by this condition: it hides its requests, so a rule that looks at them cannot.
    package var allowsTunnels: Bool { !looksInside && exclusions.allSatisfy { !$0.looksInsideAsExclusion } }

    /// Whether it looks at requests inside a tunnel. A condition only on hosts, ports, schemes and the client does not.
    private var looksInside: Bool {
        !methods.isEmpty || !queries.isEmpty || !fields.isEmpty || !contentLengths.isEmpty
            || !operations.isEmpty || !paths.allSatisfy { $0.matchesEveryPath }
    }

    /// A tunnel only counts as https, so an excluded scheme may occur inside.
    private var looksInsideAsExclusion: Bool { looksInside || !schemes.isEmpty }

    /// Whether some requests to an origin do not match, although the condition allows tunnels.
    var dependsOnRequest: Bool { !client.isEmpty || !exclusions.isEmpty }

    /// Whether the client decides too.
    var looksAtClients: Bool { !client.isEmpty || exclusions.contains { !$0.client.isEmpty } }

    /// Whether the scheme or the port of a request decides too.
    var looksAtOrigin: Bool { !schemes.isEmpty || !ports.isEmpty || exclusions.contains { $0.looksAtOrigin } }

    /// Whether the URI and the method of a request decide alone.
    var looksAtTargetOnly: Bool {
        fields.isEmpty && contentLengths.isEmpty && client.isEmpty && exclusions.allSatisfy { $0.looksAtTargetOnly }
    }

    func matches(
        _ request: RequestHead, _ facts: borrowing RequestFacts, as readings: MatchedReadings, _ known: inout RequestReadings
    ) -> Bool {
        matchesBesidesPath(request, facts, as: readings, &known) && matchesPath(of: request, facts, as: readings, &known)
    }

    /// As `matches`, except for the path.
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

    /// Whether some request to an origin of this scheme and port matches, whatever its method and path.
    package func mayMatch(scheme: RequestTarget.Scheme, port: UInt16) -> Bool {
        (schemes.isEmpty || schemes.contains(scheme)) && (ports.isEmpty || ports.contains { $0.contains(port) })
    }

    /// Whether requests inside this tunnel can match, as far as its CONNECT shows.
    func mayMatch(
        inside tunnel: RequestHead, _ facts: borrowing RequestFacts, as readings: MatchedReadings, _ known: inout RequestReadings
    ) -> Bool {
        if !client.isEmpty, !client.matches(facts.client, as: readings) { return false }
        for exclusion in exclusions where !exclusion.looksInsideAsExclusion {
            if excludes(exclusion, tunnel, facts, as: readings, &known) { return false }
        }
        return true
    }

    /// A tunnel hides its requests, so a rule that excludes some of them does not match its CONNECT: the requests inside decide.
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

    private func matchesQueries(
        of request: RequestHead, as readings: MatchedReadings, _ known: inout RequestReadings
    ) -> Bool {
        // A server may see another query, which is not known.
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
