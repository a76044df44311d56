import HTTPMessage

/// A glob over a value: `*` matches any bytes, including none.
package struct ValuePattern: Equatable, Sendable {
    package let bytes: [UInt8]
    /// The pattern in lower case.
    let folded: [UInt8]

    /// - Returns: `nil` if the text is longer than `PolicyLimits.valueLength` bytes, or has a control character.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= PolicyLimits.valueLength, bytes.allSatisfy({ $0 >= ASCII.space && $0 != 0x7F }) else { return nil }
        self.bytes = bytes
        folded = bytes.map(ASCII.lowercased)
    }

    func matches(_ value: Span<UInt8>) -> Bool { Glob.matches(bytes.span, value) }

    /// - Parameter value: the value in lower case.
    func matchesFolded(_ value: Span<UInt8>) -> Bool { Glob.matches(folded.span, value) }
}

extension [ValuePattern] {
    func contains(matching value: Span<UInt8>, isFolded: Bool) -> Bool {
        for pattern in self where isFolded ? pattern.matchesFolded(value) : pattern.matches(value) { return true }
        return false
    }
}
