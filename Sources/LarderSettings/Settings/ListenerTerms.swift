import ProxyPolicy
import TextCoding

/// The TLS settings of one listener: `tls:` of an entry of `listen`.
package struct ListenerTerms: Equatable, Sendable {
    enum Certificate: Equatable, Sendable {
        /// The CA of `tls.authority` issues the listener's certificate, for the listener's address and these names.
        case authority(names: [String])
        /// The certificate and the key are in these PEM files.
        case files(certificate: String, key: String)
    }

    let certificate: Certificate
    /// The path of a file with root certificates. The certificate of a client must chain to one of them.
    let clients: String?

    var isOfAuthority: Bool {
        if case .authority = certificate { true } else { false }
    }

    private static let keys = ["certificate", "key", "names", "clients"]

    /// Reads the word `authority`, or a mapping.
    static func read(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> ListenerTerms? {
        if case .scalar = cursor.node.value {
            guard cursor.word(among: ["authority": true], problems: &problems) == true else { return nil }
            return ListenerTerms(certificate: .authority(names: []), clients: nil)
        }
        guard let mapping = cursor.mapping(of: keys, problems: &problems) else { return nil }
        func path(_ key: String) -> String? { mapping[key].flatMap { ValueForm<String>.path.read($0, &problems) } }
        let clients = path("clients")
        if mapping["clients"] != nil, clients == nil { return nil }
        guard let certificate = path("certificate") else {
            if mapping["certificate"] == nil { cursor.report("expected `certificate`: a file, or `authority`", to: &problems) }
            return nil
        }
        if certificate == "authority" {
            if let key = mapping["key"] { key.report("`authority` has its own key; remove `key`", to: &problems) }
            let names = mapping["names"].map { $0.oneOrMore(problems: &problems).compactMap { $0.text(problems: &problems) } }
            return ListenerTerms(certificate: .authority(names: names ?? []), clients: clients)
        }
        if let names = mapping["names"] { names.report("the names are in the certificate itself; remove `names`", to: &problems) }
        guard let key = path("key") else {
            if mapping["key"] == nil { cursor.report("`certificate` needs `key` too", to: &problems) }
            return nil
        }
        return ListenerTerms(certificate: .files(certificate: certificate, key: key), clients: clients)
    }

    var shown: ShownValue {
        var entries: [(String, ShownValue)] = []
        switch certificate {
        case .authority(let names):
            if names.isEmpty, clients == nil { return .plain("authority") }
            entries.append(("certificate", .plain("authority")))
            if !names.isEmpty { entries.append(("names", .list(names.map { .text($0) }))) }
        case .files(let certificate, let key):
            entries += [("certificate", .text(certificate)), ("key", .text(key))]
        }
        if let clients { entries.append(("clients", .text(clients))) }
        return .mapping(entries)
    }

    static let schema: JSONText = {
        let path = ValueForm<String>.path.schema
        let names = JSONText.object([("type", .string("array")), ("items", .object([("type", .string("string"))]))])
        let mapping = JSONText.object([
            ("type", .string("object")), ("additionalProperties", .bool(false)),
            ("properties", .object([("certificate", path), ("key", path), ("names", names), ("clients", path)])),
            ("required", .array([.string("certificate")])),
        ])
        return .object([("anyOf", .array([.object([("const", .string("authority"))]), mapping]))])
    }()
}
