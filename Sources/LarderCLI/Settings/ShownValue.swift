/// A setting's value as it is shown: what `config show`, `config schema` and docs/configuration.md write.
package indirect enum ShownValue: Equatable, Sendable {
    /// Written as it is: a number, a size, a word without a meaning of its own in YAML.
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
