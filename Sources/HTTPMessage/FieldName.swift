/// A field name that is known to be a token (RFC 9110 §5.1): what rules and messages of our own write.
package struct FieldName: Sendable {
    /// As written; names compare without regard to case.
    package let bytes: [UInt8]
    package let known: KnownField

    /// - Returns: `nil` for an empty name and for any byte that is not a tchar (RFC 9110 §5.6.2).
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty, bytes.allSatisfy(ASCII.isTokenCharacter) else { return nil }
        self.bytes = bytes
        known = KnownField(bytes.span)
    }

    /// Whether this line of `fields` bears the name.
    package func names(_ line: FieldLine, of fields: borrowing Fields) -> Bool {
        known == .other
            ? line.known == .other && fields.name(of: line).equalsIgnoringCase(bytes.span)
            : line.known == known
    }
}

extension FieldName: Equatable {
    package static func == (left: FieldName, right: FieldName) -> Bool {
        left.known == right.known && left.bytes.span.equalsIgnoringCase(right.bytes.span)
    }
}

extension FieldName: CustomStringConvertible {
    package var description: String { String(decoding: bytes, as: UTF8.self) }
}
