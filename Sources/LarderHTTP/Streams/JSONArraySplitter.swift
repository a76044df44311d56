import HTTPMessage

/// Splits one JSON array into the texts of its elements, without reading them: a parser has to check each text.
///
/// States and moves: `start` → `first` (after `[`) → `element` → `element` (after `,`) or `ended` (after `]`); `first` → `ended`.
package struct JSONArraySplitter {
    private enum State { case start, first, element, ended }

    private let limit: Int
    private var state = State.start
    private var element: [UInt8] = []
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var position = 0

    package init(limit: Int) { self.limit = limit }

    /// Reads on from `offset`, and moves it forward.
    /// - Returns: the text of the next element; `nil` if the input is used up.
    package mutating func next(_ input: Span<UInt8>, from offset: inout Int) throws(StreamFault) -> [UInt8]? {
        while offset < input.count {
            let byte = input[offset]
            offset += 1
            position += 1
            switch state {
            case .start:
                if Self.isBlank(byte) { continue }
                guard byte == UInt8(ascii: "[") else { throw fault }
                state = .first
            case .first:
                if Self.isBlank(byte) { continue }
                if byte == UInt8(ascii: "]") {
                    state = .ended
                } else {
                    state = .element
                    if try take(byte) { throw fault }
                }
            case .element:
                if element.isEmpty, Self.isBlank(byte) { continue }
                guard try take(byte) else { continue }
                guard !element.isEmpty else { throw fault }
                if byte == UInt8(ascii: "]") { state = .ended }
                defer { element = [] }
                return element
            case .ended:
                guard Self.isBlank(byte) else { throw fault }
            }
        }
        return nil
    }

    /// - Throws: a fault if the array is not complete.
    package func finish() throws(StreamFault) {
        guard state == .ended else { throw fault }
    }

    /// - Returns: whether the byte ends the element, and is not a part of it.
    private mutating func take(_ byte: UInt8) throws(StreamFault) -> Bool {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == ASCII.backslash {
                isEscaped = true
            } else if byte == ASCII.quote {
                isInString = false
            }
        } else {
            switch byte {
            case ASCII.quote: isInString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case ASCII.comma where depth == 0, UInt8(ascii: "]") where depth == 0: return true
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth = max(0, depth - 1)
            default: break
            }
        }
        guard element.count < limit else { throw .tooLong(limit: limit) }
        element.append(byte)
        return false
    }

    private var fault: StreamFault { .malformedArray(offset: max(0, position - 1)) }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
}
