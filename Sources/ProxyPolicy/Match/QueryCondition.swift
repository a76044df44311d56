import HTTPMessage

/// A parameter that the query of a request must have, with a value that matches one of the patterns.
package struct QueryCondition: Equatable, Sendable {
    /// The decoded name of the parameter.
    package let name: [UInt8]
    package let values: [ValuePattern]
    /// The name in lower case, with `_` for `.`, a space and `[`: the form in which names are compared.
    package let folded: [UInt8]

    /// - Returns: `nil` if the name is empty, is longer than `PolicyLimits.valueLength` bytes, or has a control character.
    package init?(name: String, values: [ValuePattern]) {
        guard !name.isEmpty, let pattern = ValuePattern(name) else { return nil }
        self.name = pattern.bytes
        self.values = values
        folded = name.utf8.map(Self.folded)
    }

    /// Whether some server may treat `name` as the parameter's name. Servers may ignore case. PHP treats `.`, a space and a `[` without
    /// `]` as `_`, and `name[]` as `name`.
    package func mayBeNamed(by name: Span<UInt8>) -> Bool {
        var start = 0
        while start < name.count, name[start] == ASCII.space { start += 1 }
        guard name.count - start >= folded.count else { return false }
        for index in 0..<folded.count where Self.folded(name[start + index]) != folded[index] { return false }
        let end = start + folded.count
        return end == name.count || name[end] == UInt8(ascii: "[") || name[end] == 0
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "."), ASCII.space, UInt8(ascii: "["): UInt8(ascii: "_")
        default: ASCII.lowercased(byte)
        }
    }
}
