import HTTPMessage
import ProxyPolicy
import UpstreamTransport

/// One entry of `upstream.ways`, as written.
package struct UpstreamWayTerms: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case proxy(UpstreamProxyAddress)
        case parents([UpstreamProxyAddress])
    }

    package let name: String
    package let kind: Kind
    let credentials: SecretReference?
    let place: SettingsPlace
    let credentialsPlace: SettingsPlace
    /// The user and the password, after the reference was read.
    var loadedCredentials: UpstreamCredentials?

    /// The names that Larder gives to ways.
    static let reservedNames = ["direct", "proxy", "auto"]
    static let nameLimit = 64

    /// The way in a few words, for people: `farm (3 parents)`.
    package var summary: String {
        switch kind {
        case .proxy(let address): "\(name) (\(address.redacted))"
        case .parents(let members): "\(name) (\(members.count) parent\(members.count == 1 ? "" : "s"))"
        }
    }

    var addresses: [UpstreamProxyAddress] {
        switch kind {
        case .proxy(let address): [address]
        case .parents(let members): members
        }
    }
}

/// A user and a password for a proxy.
struct UpstreamCredentials: Equatable, Sendable {
    let user: String
    let password: String

    /// - Parameter text: `user:password`.
    init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else { return nil }
        user = String(text[..<colon])
        password = String(text[text.index(after: colon)...])
    }
}

extension UpstreamWayTerms {
    /// Reads `{name: …, url: …, credentials: …}` or `{name: …, parents: {members: […], hash: key}, credentials: …}`.
    static func read(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> UpstreamWayTerms? {
        guard let mapping = cursor.mapping(of: ["name", "url", "parents", "credentials"], problems: &problems) else { return nil }
        let before = problems.count
        let written = mapping.required("name", problems: &problems)
        let name = written.flatMap { readName($0, problems: &problems) }
        let credentials = mapping["credentials"].flatMap { SecretReference.read($0, problems: &problems) }
        let kind: Kind?
        switch (mapping["url"], mapping["parents"]) {
        case (let url?, nil): kind = readURL(url, among: UpstreamProxy.Scheme.allCases, problems: &problems).map { .proxy($0) }
        case (nil, let parents?): kind = readMembers(parents, problems: &problems).map { .parents($0) }
        default:
            cursor.report("give either url (a proxy) or parents", to: &problems)
            kind = nil
        }
        guard problems.count == before, let name, let written, let kind else { return nil }
        return UpstreamWayTerms(
            name: name, kind: kind, credentials: credentials, place: written.node.place,
            credentialsPlace: mapping["credentials"]?.node.place ?? .none)
    }

    private static func readName(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> String? {
        guard let text = cursor.text(problems: &problems) else { return nil }
        if reservedNames.contains(text) {
            cursor.report("the name `\(text)` has a fixed meaning: choose another name", to: &problems)
            return nil
        }
        let isPlain = text.utf8.allSatisfy { ASCII.isWord($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
        guard isPlain, (1...nameLimit).contains(text.utf8.count) else {
            cursor.report("a way's name must be 1 to \(nameLimit) letters, digits, `.`, `_` and `-`", to: &problems)
            return nil
        }
        return text
    }

    private static func readMembers(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> [UpstreamProxyAddress]? {
        guard let mapping = cursor.mapping(of: ["members", "hash"], problems: &problems),
            let written = mapping.required("members", problems: &problems), let items = written.list(problems: &problems)
        else { return nil }
        _ = mapping["hash"].map { $0.word(among: ["key": true], problems: &problems) }
        guard (1...ParentGroup.memberLimit).contains(items.count) else {
            written.report("give 1 to \(ParentGroup.memberLimit) members", to: &problems)
            return nil
        }
        var members: [UpstreamProxyAddress] = []
        for item in items {
            guard let member = readURL(item, among: [.http, .https], problems: &problems) else { continue }
            if members.contains(where: { $0.redacted == member.redacted }) {
                item.report("the member \(member.redacted) occurs twice", to: &problems)
            }
            members.append(member)
        }
        return members.count == items.count ? members : nil
    }

    private static func readURL(
        _ cursor: SettingsCursor, among schemes: [UpstreamProxy.Scheme], problems: inout SettingsProblems
    ) -> UpstreamProxyAddress? {
        guard let text = cursor.text(problems: &problems) else { return nil }
        guard let address = UpstreamProxyAddress(text), schemes.contains(address.scheme) else {
            // The text may contain a password, so that the message does not repeat it.
            let words = schemes.map { "\($0.rawValue)://" }.joined(separator: ", ")
            cursor.report("expected the address of a proxy, SCHEME://host:port; SCHEME:// is one of \(words)", to: &problems)
            return nil
        }
        guard address.credentials == nil else {
            cursor.report(
                "do not put a password here: write `credentials: ${file:PATH}` or `credentials: ${env:NAME}` beside it",
                to: &problems)
            return nil
        }
        return address
    }
}

extension ValueForm where Value == UpstreamWayTerms {
    static let upstreamWay = ValueForm(
        about: "a mapping: `name`, and `url` or `parents: {members: [URL, …], hash: key}`, and `credentials` (`${env:NAME}` or "
            + "`${file:PATH}`, with `user:password`)",
        schema: .object([
            ("type", .string("object")), ("additionalProperties", .bool(false)),
            (
                "properties",
                .object([
                    ("name", .pattern("^[A-Za-z0-9._-]{1,64}$")),
                    ("url", .pattern("^(http|https|socks5|socks5h)://.+:[0-9]+/?$")),
                    (
                        "parents",
                        .object([
                            ("type", .string("object")), ("additionalProperties", .bool(false)),
                            (
                                "properties",
                                .object([
                                    (
                                        "members",
                                        .object([
                                            ("type", .string("array")), ("minItems", .number(1)),
                                            ("items", .pattern("^https?://.+:[0-9]+/?$")),
                                        ])
                                    ), ("hash", .object([("const", .string("key"))])),
                                ])
                            ), ("required", .array([.string("members")])),
                        ])
                    ), ("credentials", .pattern(#"^\$\{(env|file):.+\}$"#)),
                ])
            ), ("required", .array([.string("name")])),
        ]),
        read: { UpstreamWayTerms.read($0, problems: &$1) },
        show: { way in
            var members: [(String, ShownValue)] = [("name", .text(way.name))]
            switch way.kind {
            case .proxy(let address): members.append(("url", .text(address.redacted)))
            case .parents(let parents):
                members.append(
                    (
                        "parents",
                        .mapping([("members", .list(parents.map { .text($0.redacted) })), ("hash", .plain("key"))])
                    ))
            }
            if let credentials = way.credentials { members.append(("credentials", .text(credentials.description))) }
            return .mapping(members)
        })
}
