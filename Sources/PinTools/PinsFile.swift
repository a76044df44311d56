import CommandSupport
import LarderSettings
import ProxyPolicy

/// A file of `tls.pins_from` that is changed and written again. What a person has put between its lines would be lost: where there are
/// comments elsewhere than at its top, it is left to that person.
package struct PinsFile {
    /// As it was read.
    private let octets: [UInt8]
    private let path: String
    private let top: String
    private var entries: [(key: String, value: ShownValue)]

    /// - Returns: `nil` where it is not for programs to write, or cannot be read any more.
    package init?(path: String) {
        guard let octets = try? LocalFile.bytes(at: path, atMost: YAMLReader.lengthLimit),
            let text = String(validating: octets, as: UTF8.self)
        else { return nil }
        self.init(text, path: path)
    }

    init?(_ text: String, path: String = "") {
        octets = Array(text.utf8)
        self.path = path
        // A carriage return and a line feed are one character.
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let topCount = lines.prefix { $0.hasPrefix("#") || $0.allSatisfy(\.isWhitespace) }.count
        let rest = lines.dropFirst(topCount)
        // In a text a mark of a comment may be none: then it is left alone all the same.
        guard !rest.contains(where: { $0.hasPrefix("#") || $0.contains(" #") || $0.contains("\t#") }),
            let root = try? YAMLReader.read(text), case .mapping(let entries) = ShownValue(root)
        else { return nil }
        top = lines.prefix(topCount).map { $0 + "\n" }.joined()
        self.entries = entries
    }

    /// The policy of a host, as it was written.
    package func policy(of name: String) -> ShownValue? { entries.first { $0.key == name }?.value }

    /// Puts these in the place of `of` and `backup` in the pins of a host.
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

    /// - Throws: also where the file is no longer what was read.
    package func write() throws(WholeFile.Unwritten) { try WholeFile.write(text, to: path, replaces: true, inPlaceOf: octets) }
}
