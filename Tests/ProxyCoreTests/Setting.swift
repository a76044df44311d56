import HTTPCaching
import ProxyPolicy

/// Settings as Swift literals: `["cache": ["policy": "reload"]]`.
indirect enum Setting: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, Sendable {
    case text(String)
    case list([Setting])
    case mapping([(String, Setting)])

    init(stringLiteral text: String) { self = .text(text) }
    init(arrayLiteral elements: Setting...) { self = .list(elements) }
    init(dictionaryLiteral elements: (String, Setting)...) { self = .mapping(elements) }

    var node: SettingsNode {
        switch self {
        case .text(let text): SettingsNode(.scalar(SettingsScalar(text)), at: .none)
        case .list(let elements): SettingsNode(.sequence(elements.map(\.node)), at: .none)
        case .mapping(let entries):
            SettingsNode(
                .mapping(entries.map { SettingsNode.Entry(key: $0.0, at: .none, value: $0.1.node) }), at: .none)
        }
    }

    /// A rule set of these rules; names are added.
    static func rules(_ rules: [[String: Setting]]) throws -> PolicyRuleSet {
        let named = rules.enumerated().map { index, rule in
            Setting.mapping([("name", .text("rule \(index)"))] + rule.sorted { $0.key < $1.key })
        }
        return try PolicyRuleSet(parsing: Setting.list(named).node)
    }
}
