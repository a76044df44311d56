import CommandSupport
import LarderSettings
import ProxyPolicy

/// A file of `tls.pins_from` that can be changed and rewritten. Rewriting would lose comments between its lines: if the file has comments
/// other than at its top, only a person may change it.
package struct PinsFile {
    /// The content that was read.
    private let octets: [UInt8]
    private let path: String
    private let top: String
    private var entries: [(key: String, value: ShownValue)]

    /// - Returns: `nil` if a program must not rewrite the file, or if the file can no longer be read.
    package init?(path: String) {
        guard let octets = try? LocalFile.bytes(at: path, atMost: YAMLReader.lengthLimit),
            let text = String(validating: octets, as: UTF8.self)
        else { return nil }
        self.init(text, path: path)
    }

    init?(_ text: String, path: String = "") {
        octets = Array(text.utf8)
        self.path = path
        // A carriage return and a line feed are one `Character`.
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let topCount = lines.prefix { $0.hasPrefix("#") || $0.allSatisfy(\.isWhitespace) }.count
        let rest = lines.dropFirst(topCount)
        // A `#` may also be part of a string. A file with such a string is not rewritten either.
        guard !rest.contains(where: { $0.hasPrefix("#") || $0.contains(" #") || $0.contains("\t#") }),
            let root = try? YAMLReader.read(text), case .mapping(let entries) = ShownValue(root)
        else { return nil }
        top = lines.prefix(topCount).map { $0 + "\n" }.joined()
        self.entries = entries
    }

    /// The policy of a host, as written.
    package func policy(of name: String) -> ShownValue? { entries.first { $0.key == name }?.value }

    /// Replaces `of` and `backup` in the pins of a host.
    package mutating func replacePins(of name: String, by words: [(key: String, value: ShownValue)]) {
        entries = entries.map { entry in
            guard entry.key == name, case .mapping(let policy) = entry.value else { return entry }
            let changed = policy.map { member in
                guard member.key == "pins", case .mapping(let pins) = member.value else { return member }
                let others = pins.filter { !["of", "backup"].contains($0.key) }
                return (key: member.key, value: ShownValue.mapping(words + others))
            }
            return (entry.key, .mapping(changed))
        }
    }

    var text: String { top + YAMLWriter.write(entries, indentation: 0) }

    /// - Throws: an error also if the file has changed since it was read.
    package func write() throws(WholeFile.Unwritten) { try WholeFile.write(text, to: path, replaces: true, inPlaceOf: octets) }
}
