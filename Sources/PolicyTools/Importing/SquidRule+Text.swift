import TextCoding

/// The rules of a settings file into which a line of a squid.conf is translated.
extension SquidRule {
    /// A rule's `match`, as parts of a YAML mapping.
    private typealias Match = [String]

    /// The lines of text that form the rules; empty if no rule expresses the squid line.
    var text: [String] {
        let matches = allows ? allowedMatches : deniedMatches
        return matches.enumerated().flatMap { index, match in
            let name = matches.count == 1 ? "line \(line)" : "line \(line), \(index + 1)"
            return ["  - name: \(JSONText.quoted(name))"]
                + (match.isEmpty ? [] : ["    match: {\(match.joined(separator: ", "))}"])
                + [allows ? "    allow: {}" : "    deny: {}"]
        }
    }

    /// Whether some rule expresses the squid line.
    var hasText: Bool {
        if allows {
            return urls.map { $0.contains { $0.scheme == "http" } && matches(.http) } ?? (matches(.http) || matches(.connect))
        }
        return urls.map { $0.contains { matches($0.scheme == "http" ? .http : .https) } }
            ?? SquidForm.allCases.contains(where: matches)
    }

    /// An upper bound for the size of the rules in bytes, computed without making them. Each value counts at least 10 bytes, so the bound
    /// also limits the number of values.
    var size: Int {
        let texts = [hosts, methods, paths, clients, destinations].reduce(0) { $0 + Self.length($1 ?? []) }
        let own = texts + exclusions.reduce(0) { $0 + $1.size } + 16 * (ports?.count ?? 0) + Self.ruleLength
        if let urls { return urls.reduce(0) { $0 + own + Self.length([$1.host, $1.path]) + Self.ruleLength } }
        // The addresses of the clients may be written a second time, in `clients.allow`.
        return 2 * own + Self.length(clients ?? [])
    }

    /// The length in bytes of the text of a rule without its values: its name and the keys of its `match`.
    private static let ruleLength = 160

    /// JSON writes a backslash and a quote as two bytes.
    fileprivate static func length(_ values: [String]) -> Int { values.reduce(0) { $0 + 2 * $1.utf8.count + 10 } }

    /// Larder does not see the requests in a tunnel. So rules with a method or a path are for http only, and a rule for https allows
    /// tunnels.
    private var allowedMatches: [Match] {
        if let urls { return urls.filter { $0.scheme == "http" && matches(.http) }.map { match(of: $0) } }
        if !looksInside, SquidForm.allCases.allSatisfy(matches) { return [hostMatch + exclusionMatch(inside: false)] }
        var found: [Match] = []
        if matches(.http) { found.append(["scheme: http"] + hostMatch + requestMatch + exclusionMatch(inside: true)) }
        if matches(.connect) { found.append(["scheme: https"] + hostMatch + exclusionMatch(inside: false)) }
        return found
    }

    /// Larder treats a CONNECT as https. A rule that excludes some requests does not match a CONNECT. So a second rule denies the
    /// CONNECT.
    private var deniedMatches: [Match] {
        if let urls { return urls.filter { $0.scheme == "http" ? matches(.http) : matches(.https) }.map { match(of: $0) } }
        let isSplit = exclusions.contains(where: \.looksInside)
        var found: [Match] = []
        if SquidForm.allCases.contains(where: { matches($0) && !(isSplit && $0 == .connect) }) {
            found.append(schemeMatch + hostMatch + requestMatch + exclusionMatch(inside: true))
        }
        if isSplit, matches(.connect) { found.append(hostMatch + ["method: [\"CONNECT\"]"] + exclusionMatch(inside: false)) }
        return found
    }

    private var schemeMatch: Match {
        if !forms.contains(.https), !forms.contains(.connect) { return ["scheme: http"] }
        return forms.contains(.http) ? [] : ["scheme: https"]
    }

    private var hostMatch: Match {
        var match: Match = []
        if let hosts { match.append("host: \(Self.list(hosts))") }
        if let ports { match.append("port: \(Self.list(ports))") }
        if let clients { match.append("client: \(Self.list(clients))") }
        return match
    }

    private var requestMatch: Match {
        var match: Match = []
        if let methods = methodsOfRule { match.append("method: \(Self.list(methods))") }
        if let paths { match.append("path: \(Self.list(paths))") }
        return match
    }

    /// A rule that allows never lists CONNECT: a rule without methods allows tunnels.
    private var methodsOfRule: [String]? {
        methods.map { names in allows || !matches(.connect) ? names.filter { $0 != "CONNECT" } : names }
    }

    private func match(of url: SquidACL.URLPrefix) -> Match {
        var match = Self.parts(of: url)
        if let clients { match.append("client: \(Self.list(clients))") }
        return match + requestMatch + exclusionMatch(inside: true)
    }

    private static func parts(of url: SquidACL.URLPrefix) -> Match {
        [
            "scheme: \(url.scheme)", "host: \(list([url.host]))", "port: \(url.scheme == "http" ? 80 : 443)",
            "path: \(list([url.path]))",
        ]
    }

    /// - Parameter inside: whether exclusions by method, path and URL are included.
    private func exclusionMatch(inside: Bool) -> Match {
        var excluded: [String] = []
        for exclusion in exclusions where inside || !exclusion.looksInside {
            if !exclusion.hosts.isEmpty { excluded.append("host: \(Self.list(exclusion.hosts))") }
            if !exclusion.ports.isEmpty { excluded.append("port: \(Self.list(exclusion.ports))") }
            if !exclusion.methods.isEmpty { excluded.append("method: \(Self.list(exclusion.methods))") }
            if !exclusion.paths.isEmpty { excluded.append("path: \(Self.list(exclusion.paths))") }
            if !exclusion.clients.isEmpty { excluded.append("client: \(Self.list(exclusion.clients))") }
            excluded += exclusion.urls.map { Self.parts(of: $0).joined(separator: ", ") }
        }
        return excluded.isEmpty ? [] : ["not: [\(excluded.map { "{\($0)}" }.joined(separator: ", "))]"]
    }

    private static func list(_ ports: [ClosedRange<UInt16>]) -> String {
        let texts = ports.map { $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
        return "[\(texts.joined(separator: ", "))]"
    }

    static func list(_ values: [String]) -> String {
        // A value is written once, although an ACL may list it twice.
        var seen: Set<String> = []
        return "[\(values.filter { seen.insert($0).inserted }.map(JSONText.quoted).joined(separator: ", "))]"
    }
}

extension SquidExclusion {
    fileprivate var size: Int {
        [hosts, methods, paths, clients].reduce(0) { $0 + SquidRule.length($1) } + 16 * ports.count
            + urls.reduce(0) { $0 + SquidRule.length([$1.host, $1.path]) + 80 } + 40
    }
}
