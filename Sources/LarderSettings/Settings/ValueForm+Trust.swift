import ProxyPolicy
import TextCoding

extension ValueForm where Value == TrustSettings.Fallback {
    static let trustFallback = ValueForm(
        about: "a policy, see [trust.md](trust.md), or `deny`",
        schema: .object([("anyOf", .array([.object([("const", .string("deny"))]), TrustSchema.policy]))]),
        read: { cursor, problems in
            if case .scalar = cursor.node.value {
                guard cursor.word(among: ["deny": true], problems: &problems) == true else { return nil }
                return TrustSettings.Fallback(meaning: .deny, shown: .plain("deny"))
            }
            guard let terms = TrustTerms(cursor, mayWeaken: false, problems: &problems) else { return nil }
            if terms.labels != nil { terms.report("`labels` is only for a pattern in tls.hosts", at: "labels", to: &problems) }
            return TrustSettings.Fallback(meaning: .policy(terms), shown: ShownValue(cursor.node))
        },
        show: \.shown)
}

extension ValueForm where Value == TrustSettings.Hosts {
    static let trustHosts = ValueForm(
        about: "a mapping from hosts to policies, see [trust.md](trust.md#hosts)",
        schema: .object([("type", .string("object")), ("additionalProperties", TrustSchema.policy)]),
        read: { cursor, problems in
            TrustEntry.reading(cursor, problems: &problems).map {
                TrustSettings.Hosts(entries: $0, shown: ShownValue(cursor.node))
            }
        },
        show: \.shown)
}

extension ValueForm where Value == TrustSettings.ClientCertificates {
    static let clientCertificates = ValueForm(
        about: "a mapping from hosts to certificates with keys, see [trust.md](trust.md#client-certificates)",
        schema: .object([("type", .string("object")), ("additionalProperties", TrustSchema.clientCertificate)]),
        read: { cursor, problems in
            ClientCertificateEntry.reading(cursor, problems: &problems).map {
                TrustSettings.ClientCertificates(entries: $0, shown: ShownValue(cursor.node))
            }
        },
        show: \.shown)
}

/// The schema of a trust policy, for editors.
enum TrustSchema {
    static let policy = object([
        ("anchors", anyOf([words("system", "pins"), object([("bundle", path)])])),
        ("validate_host", boolean), ("allow_untrusted_root", boolean), ("allow_expired", boolean), ("until", day),
        ("pins", pins), ("mode", words("report_only", "enforce")), ("enforce_from", day), ("minimum_tls", version),
        ("minimum_key_sizes", object([("rsa", number), ("elliptic_curve", number)])),
        ("refuse_digests", list(words("md5", "sha1", "sha224", "sha256", "sha384", "sha512"))), ("crl_files", oneOrMore(path)),
        ("crl", words("off", "soft", "hard")), ("ocsp", words("off", "soft", "hard")), ("sct", words("off", "audit")),
        ("connect", words("tunnel", "probe", "intercept", "deny")), ("labels", words("one", "all")),
    ])

    static let clientCertificate = object([
        ("certificate", path), ("key", path), ("pkcs12", path),
        ("passphrase", .pattern("^\\$\\{(env|file):.+\\}$")),
    ])

    private static let pins = object([
        ("mode", words("public_key", "certificate")), ("of", oneOrMore(path)), ("backup", oneOrMore(path)), ("expires", day),
        ("on_expiry", words("report_only", "fail")), ("comment", .object([("type", .string("string"))])),
    ])

    private static let path = ValueForm<String>.path.schema
    private static let boolean = ValueForm<Bool>.boolean.schema
    private static let number = JSONText.object([("type", .string("integer"))])
    private static let day = JSONText.pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}$")
    private static let version = words("1.2", "1.3")

    private static func object(_ members: [(String, JSONText)]) -> JSONText {
        .object([("type", .string("object")), ("additionalProperties", .bool(false)), ("properties", .object(members))])
    }

    private static func words(_ words: String...) -> JSONText { .object([("enum", .array(words.map(JSONText.string)))]) }
    private static func list(_ form: JSONText) -> JSONText { .object([("type", .string("array")), ("items", form)]) }
    private static func anyOf(_ forms: [JSONText]) -> JSONText { .object([("anyOf", .array(forms))]) }
    private static func oneOrMore(_ form: JSONText) -> JSONText { anyOf([form, list(form)]) }
}
