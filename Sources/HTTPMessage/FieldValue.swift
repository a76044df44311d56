/// A valid field value: it has no CR, LF, NUL or other control character, and no blank at either end (RFC 9110 §5.5).
package struct FieldValue: Equatable, Sendable {
    package let bytes: [UInt8]

    /// Why a text is not a field value.
    package enum Fault: Error, Equatable {
        /// The text has CR, LF, NUL, DEL or another control character, which could end the field and start another (response
        /// splitting).
        case control(UInt8)
        /// The text has a space or tab at an end, which recipients would remove.
        case outerBlank
    }

    package init(_ text: String) throws(Fault) {
        let bytes = Array(text.utf8)
        for byte in bytes where !ASCII.isFieldValueCharacter(byte) { throw .control(byte) }
        if let first = bytes.first, let last = bytes.last, ASCII.isBlank(first) || ASCII.isBlank(last) { throw .outerBlank }
        self.bytes = bytes
    }
}

extension FieldValue: CustomStringConvertible {
    package var description: String { String(decoding: bytes, as: UTF8.self) }
}
