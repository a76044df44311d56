import ProxyPolicy

/// A setting's value in a form for output, which `config show`, `config schema` and docs/configuration.md use.
package indirect enum ShownValue: Equatable, Sendable {
    /// Text that is written without quotes: a number, a size, or a word without a special meaning in YAML.
    case plain(String)
    /// Text that may need quotes.
    case text(String)
    case list([ShownValue])
    case mapping([(key: String, value: ShownValue)])

    package static func == (left: ShownValue, right: ShownValue) -> Bool {
        switch (left, right) {
        case (.plain(let a), .plain(let b)), (.text(let a), .text(let b)): a == b
        case (.list(let a), .list(let b)): a == b
        case (.mapping(let a), .mapping(let b)):
            a.count == b.count && zip(a, b).allSatisfy { $0.key == $1.key && $0.value == $1.value }
        default: false
        }
    }
}

extension ShownValue {
    /// The value as users write it in the settings.
    package init(_ node: SettingsNode) {
        switch node.value {
        case .scalar(let scalar): self.init(scalar)
        case .sequence(let nodes): self = .list(nodes.map(Self.init))
        case .mapping(let entries): self = .mapping(entries.map { ($0.key, Self($0.value)) })
        }
    }

    /// Null is shown as the word `null`, because an empty text would be another value.
    init(_ scalar: SettingsScalar) {
        self = scalar.isNull ? .plain("null") : scalar.isQuoted ? .text(scalar.text) : .plain(scalar.text)
    }
}
