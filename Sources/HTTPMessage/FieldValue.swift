/// A field value that may be written as it is: no CR, LF, NUL or other control, no blank at either end (RFC 9110 §5.5).
package struct FieldValue: Equatable, Sendable {
    package let bytes: [UInt8]

    /// Why a text is no field value.
    package enum Fault: Error, Equatable {
        /// CR, LF, NUL, DEL or another control: it could end the field and begin another (response splitting).
        case control(UInt8)
        /// Blanks at an end are no part of a value; a reader would drop them.
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
