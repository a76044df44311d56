import ProxyPolicy

/// Rules as `config show` prints them: as written, except that the values of fields that may hold secrets are redacted.
enum RedactedRules {
    static func show(_ node: SettingsNode) -> ShownValue {
        switch node.value {
        case .scalar(let scalar): ShownValue(scalar)
        case .sequence(let nodes): .list(nodes.map(show))
        case .mapping(let entries):
            .mapping(
                entries.map { ($0.key, isSecret($0.key) ? redacted($0.value) : show($0.value)) })
        }
    }

    /// Whether a key looks like the name of a field that holds a secret. The keys of rules (`match`, `set`, `ttl`) do not look so.
    static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return secretWords.contains { name.contains($0) }
    }

    private static let secretWords = [
        "auth", "cookie", "token", "secret", "passw", "credential", "session", "signature", "apikey", "-key", "_key", "-pass",
        "_pass", "pwd", "psk",
    ]

    private static func redacted(_ node: SettingsNode) -> ShownValue {
        switch node.value {
        case .scalar: .text("(redacted)")
        case .sequence(let nodes): .list(nodes.map(redacted))
        case .mapping(let entries): .mapping(entries.map { ($0.key, redacted($0.value)) })
        }
    }
}
