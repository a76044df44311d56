/// A field name that is a valid token (RFC 9110 §5.1), for rules and for Larder's own messages.
package struct FieldName: Sendable {
    /// The name as written. Names are compared case-insensitively.
    package let bytes: [UInt8]
    package let known: KnownField

    /// - Returns: `nil` if the name is empty, or if a byte is not a tchar (RFC 9110 §5.6.2).
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty, bytes.allSatisfy(ASCII.isTokenCharacter) else { return nil }
        self.bytes = bytes
        known = KnownField(bytes.span)
    }

    /// Whether `line` of `fields` has this field name.
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
