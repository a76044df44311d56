import TextCoding

/// The requests that report mode has forwarded although the rules would deny them, in groups: the same reason, method and host.
package struct DenialReport: Sendable {
    package struct Group: Equatable, Sendable {
        /// The error code that the requests would get.
        package let code: String
        /// The rule that would deny the requests; `nil` if they would be denied for another reason.
        package let rule: String?
        package let method: String
        package let host: String
        package internal(set) var count: UInt64
        /// The times of the first and the last request, as in the access log.
        package internal(set) var first: String
        package internal(set) var last: String
        /// The URL of one request, without its query and without secrets.
        package let url: String

        package init(
            code: String, rule: String?, method: String, host: String, count: UInt64, first: String, last: String, url: String
        ) {
            self.code = code
            self.rule = rule
            self.method = method
            self.host = host
            self.count = count
            self.first = first
            self.last = last
            self.url = url
        }

        fileprivate var reason: String { rule.map { "rule \($0)" } ?? code }
    }

    private struct Key: Hashable {
        let code: String
        let rule: String?
        let method: String
        let host: String
    }

    private var groups: [Group] = []
    private var places: [Key: Int] = [:]
    /// The number of requests that are in no group, because there are too many groups.
    private var omitted: UInt64

    package init(_ groups: [Group] = [], omitted: UInt64 = 0) {
        self.groups = groups
        self.omitted = omitted
    }

    /// Adds a request from an access log.
    /// - Parameters:
    ///   - url: the URL; for a CONNECT, the host and the port.
    ///   - mask: replaces the secrets in the URL of a new group.
    package mutating func add(
        code: String, rule: String?, method: String, url: String, time: String, mask: (String) -> String
    ) {
        let key = Key(code: code, rule: rule, method: method, host: Self.host(of: url))
        if let place = places[key] {
            groups[place].count += 1
            // Larder logs a request when it ends, so a request that came earlier may have a later line.
            groups[place].first = min(groups[place].first, time)
            groups[place].last = max(groups[place].last, time)
        } else if groups.count < PolicyToolLimits.denialGroups {
            places[key] = groups.count
            let example = mask(String(url.prefix { $0 != "?" && $0 != "#" }))
            groups.append(
                Group(
                    code: code, rule: rule, method: method, host: key.host, count: 1, first: time, last: time, url: example))
        } else {
            omitted += 1
        }
    }

    /// The host in lower case, with its port unless that is the default port.
    static func host(of url: String) -> String {
        let scheme = url.utf8.firstRange(of: "://".utf8)
        let rest = scheme.map { url[$0.upperBound...] } ?? url[...]
        let authority = rest.prefix { !"/?#".contains($0) }
        let host = (authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority).lowercased()
        let port = scheme.map { url[..<$0.lowerBound].lowercased() } == "http" ? ":80" : ":443"
        return host.hasSuffix(port) ? String(host.dropLast(port.count)) : host
    }

    package var total: UInt64 { groups.reduce(omitted) { $0 + $1.count } }

    /// The groups, the most frequent first.
    private var sorted: [Group] {
        groups.sorted {
            if $0.count != $1.count { return $0.count > $1.count }
            return ($0.reason, $0.host, $0.method, $0.url) < ($1.reason, $1.host, $1.method, $1.url)
        }
    }

    // MARK: Output

    package var text: String {
        if total == 0 { return "no request would be denied\n" }
        let head = ["COUNT", "DENIED BY", "METHOD", "HOST", "FIRST", "LAST", "EXAMPLE"]
        let rows = sorted.map { group in
            [
                "\(group.count)", group.reason, group.method, group.host, Self.second(of: group.first),
                Self.second(of: group.last), group.url,
            ].map { printable($0, limit: 600) }
        }
        let table = [head] + rows
        let widths = head.indices.map { column in table.reduce(0) { max($0, $1[column].count) } }
        var text = ""
        for row in table {
            // The last column is not filled up with spaces.
            let cells = row.indices.map { column in
                column == row.count - 1
                    ? row[column] : row[column] + String(repeating: " ", count: widths[column] - row[column].count)
            }
            text += cells.joined(separator: "  ") + "\n"
        }
        if omitted > 0 { text += "and \(omitted) more requests: the list is full\n" }
        return text
    }

    /// A time without its fraction of a second.
    private static func second(of time: String) -> String {
        time.firstIndex(of: ".").map { time[..<$0] + "Z" } ?? time
    }

    /// - Parameter enforcement: what `egress.enforce` is now, if it is known.
    package func json(enforcement: String? = nil) -> JSONText {
        let members: [(String, JSONText)] = [
            ("would_deny", .count(total)), ("would_deny_omitted", .count(omitted)),
            (
                "denials",
                .array(
                    sorted.map { group in
                        .object([
                            ("code", .string(group.code)), ("rule", group.rule.map(JSONText.string) ?? .null),
                            ("method", .string(group.method)), ("host", .string(group.host)), ("count", .count(group.count)),
                            ("first", .string(group.first)), ("last", .string(group.last)), ("url", .string(group.url)),
                        ])
                    })
            ),
        ]
        return .object((enforcement.map { [("enforce", .string($0))] } ?? []) + members)
    }
}
