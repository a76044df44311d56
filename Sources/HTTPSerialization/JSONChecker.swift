import HTTPMessage

/// Checks whether a text is strictly valid JSON (RFC 8259), in pieces as they arrive.
///
/// No value is built. The checker keeps only its state: what it expects next, and one bit for each open container. Repeated names in
/// an object are accepted (§4 leaves them to the receiver), and so is a `\u` escape that is half of a surrogate pair (§8.2). A byte
/// order mark is rejected, since it is not part of the grammar (§8.1).
package struct JSONChecker: Sendable {
    /// Maximum nesting of arrays and objects (RFC 8259 §9 allows a limit).
    package static let defaultDepthLimit = 512
    package static let greatestDepthLimit = 1024

    /// States and moves: `value`, and its two forms at the beginning of a container, lead to a string, a number, a literal or the
    /// next container. After each of these, the state is `separator` or, at the top level, `end`.
    private enum State: UInt8 {
        case value
        /// After `[`: a value or `]` must follow.
        case firstElement
        /// After `{`: a name or `}` must follow.
        case firstName
        /// After a comma in an object: a name must follow.
        case name
        case colon
        /// After a value in a container: a comma or the end of the container must follow.
        case separator
        /// After the top-level value: only whitespace may follow.
        case end
        case string, escape, unicodeEscape
        /// Inside a multibyte character.
        case continuation
        case minus, zero, integer, point, fraction, exponentMark, exponentSign, exponent
        case literal
    }

    private var state = State.value
    private var offset: UInt64 = 0
    private let depthLimit: Int
    private var depth = 0
    /// One bit for each open container: set for an object.
    private var isObject: InlineArray<16, UInt64> = .init(repeating: 0)
    private var stringIsName = false
    /// Hexadecimal digits of a `\u` escape, or bytes of a character, that are still missing.
    private var left = 0
    /// The valid range of the next byte of a character (RFC 3629 §4).
    private var continuationRange: ClosedRange<UInt8> = 0x80...0xBF
    private var literal: StaticString = "true"
    private var literalPlace = 0
    private var firstOctet: UInt8 = 0
    private var fault: JSONFault?

    package init(depthLimit: Int = JSONChecker.defaultDepthLimit) {
        precondition(depthLimit <= Self.greatestDepthLimit, "one bit is kept for each level")
        self.depthLimit = depthLimit
    }

    /// Checks the next bytes; after a fault it always throws that fault.
    package mutating func consume(_ octets: Span<UInt8>) throws(JSONFault) {
        if let fault { throw fault }
        if offset == 0, !octets.isEmpty { firstOctet = octets[0] }
        var index = 0
        while index < octets.count {
            if state == .string {
                index = Self.endOfPlainText(in: octets, from: index)
                if index == octets.count { break }
            }
            if let reason = step(octets[index]) {
                let found = JSONFault(reason, at: offset + UInt64(index))
                fault = found
                throw found
            }
            index += 1
        }
        offset += UInt64(octets.count)
    }

    /// Ends the text. An empty text and a single space are accepted too: some servers send them for an empty response
    /// (feature V6 in docs/threats.md).
    package mutating func finish() throws(JSONFault) {
        if let fault { throw fault }
        switch state {
        case .end: return
        case .zero where depth == 0, .integer where depth == 0, .fraction where depth == 0, .exponent where depth == 0: return
        case .value where isEmptyOrOneSpace: return
        default:
            let found = JSONFault(.unexpectedEnd, at: offset)
            fault = found
            throw found
        }
    }

    private var isEmptyOrOneSpace: Bool { offset == 0 || (offset == 1 && firstOctet == ASCII.space) }

    // MARK: Steps

    /// The end of a run of plain characters: a quote, a backslash, a control character or a byte above 127.
    private static func endOfPlainText(in octets: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while index < octets.count {
            let octet = octets[index]
            if octet < 0x20 || octet >= 0x80 || octet == ASCII.quote || octet == ASCII.backslash { break }
            index += 1
        }
        return index
    }

    private mutating func step(_ octet: UInt8) -> JSONFault.Reason? {
        switch state {
        case .string: return stepInString(octet)
        case .escape: return stepInEscape(octet)
        case .unicodeEscape:
            guard ASCII.hexValue(octet) != nil else { return .unexpectedByte }
            left -= 1
            if left == 0 { state = .string }
            return nil
        case .continuation:
            guard continuationRange.contains(octet) else { return .notUTF8 }
            continuationRange = 0x80...0xBF
            left -= 1
            if left == 0 { state = .string }
            return nil
        case .literal:
            guard octet == literal.utf8Start[literalPlace] else { return .unexpectedByte }
            literalPlace += 1
            if literalPlace == literal.utf8CodeUnitCount { endValue() }
            return nil
        case .minus, .zero, .integer, .point, .fraction, .exponentMark, .exponentSign, .exponent:
            return stepInNumber(octet)
        case .value, .firstElement, .firstName, .name, .colon, .separator, .end:
            return Self.isBlank(octet) ? nil : stepBetweenValues(octet)
        }
    }

    private static func isBlank(_ octet: UInt8) -> Bool {
        octet == ASCII.space || octet == ASCII.lf || octet == ASCII.cr || octet == ASCII.tab
    }

    private mutating func stepBetweenValues(_ octet: UInt8) -> JSONFault.Reason? {
        switch (state, octet) {
        case (.firstElement, UInt8(ascii: "]")), (.firstName, UInt8(ascii: "}")): closeContainer()
        case (.value, _), (.firstElement, _): return beginValue(octet)
        case (.firstName, ASCII.quote), (.name, ASCII.quote):
            stringIsName = true
            state = .string
        case (.colon, ASCII.colon): state = .value
        case (.separator, ASCII.comma): state = isInObject ? .name : .value
        case (.separator, UInt8(ascii: "}")) where isInObject: closeContainer()
        case (.separator, UInt8(ascii: "]")) where !isInObject: closeContainer()
        default: return .unexpectedByte
        }
        return nil
    }

    private mutating func beginValue(_ octet: UInt8) -> JSONFault.Reason? {
        switch octet {
        case UInt8(ascii: "{"): return open(object: true)
        case UInt8(ascii: "["): return open(object: false)
        case ASCII.quote:
            stringIsName = false
            state = .string
        case UInt8(ascii: "-"): state = .minus
        case UInt8(ascii: "0"): state = .zero
        case UInt8(ascii: "1")...UInt8(ascii: "9"): state = .integer
        case UInt8(ascii: "t"): beginLiteral("true")
        case UInt8(ascii: "f"): beginLiteral("false")
        case UInt8(ascii: "n"): beginLiteral("null")
        default: return .unexpectedByte
        }
        return nil
    }

    private mutating func beginLiteral(_ text: StaticString) {
        literal = text
        literalPlace = 1
        state = .literal
    }

    // MARK: Containers

    private var isInObject: Bool { isObject[(depth - 1) / 64] >> UInt64((depth - 1) % 64) & 1 == 1 }

    private mutating func open(object: Bool) -> JSONFault.Reason? {
        guard depth < depthLimit else { return .tooDeep }
        let bit = 1 << UInt64(depth % 64) as UInt64
        if object { isObject[depth / 64] |= bit } else { isObject[depth / 64] &= ~bit }
        depth += 1
        state = object ? .firstName : .firstElement
        return nil
    }

    private mutating func closeContainer() {
        depth -= 1
        endValue()
    }

    private mutating func endValue() { state = depth == 0 ? .end : .separator }

    // MARK: Strings

    private mutating func stepInString(_ octet: UInt8) -> JSONFault.Reason? {
        switch octet {
        case ASCII.quote:
            if stringIsName { state = .colon } else { endValue() }
        case ASCII.backslash: state = .escape
        case 0x00..<0x20: return .unexpectedByte
        case 0x20..<0x80: break
        default: return beginCharacter(octet)
        }
        return nil
    }

    private mutating func stepInEscape(_ octet: UInt8) -> JSONFault.Reason? {
        switch octet {
        case ASCII.quote, ASCII.backslash, ASCII.slash, UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            state = .string
        case UInt8(ascii: "u"):
            left = 4
            state = .unicodeEscape
        default: return .unexpectedByte
        }
        return nil
    }

    /// Begins a multibyte character. Rejects overlong forms, surrogates, and characters above U+10FFFF (RFC 3629 §4).
    private mutating func beginCharacter(_ octet: UInt8) -> JSONFault.Reason? {
        switch octet {
        case 0xC2...0xDF: left = 1
        case 0xE0...0xEF: left = 2
        case 0xF0...0xF4: left = 3
        default: return .notUTF8
        }
        switch octet {
        case 0xE0: continuationRange = 0xA0...0xBF
        case 0xED: continuationRange = 0x80...0x9F
        case 0xF0: continuationRange = 0x90...0xBF
        case 0xF4: continuationRange = 0x80...0x8F
        default: continuationRange = 0x80...0xBF
        }
        state = .continuation
        return nil
    }

    // MARK: Numbers

    private mutating func stepInNumber(_ octet: UInt8) -> JSONFault.Reason? {
        let isDigit = ASCII.isDigit(octet)
        switch state {
        case .minus:
            guard isDigit else { return .unexpectedByte }
            state = octet == UInt8(ascii: "0") ? .zero : .integer
        case .integer where isDigit, .fraction where isDigit, .exponent where isDigit: break
        case .zero, .integer:
            if octet == UInt8(ascii: ".") {
                state = .point
            } else {
                return stepBehindDigits(octet)
            }
        case .fraction: return stepBehindDigits(octet)
        case .exponent: return endNumber(before: octet)
        case .point:
            guard isDigit else { return .unexpectedByte }
            state = .fraction
        case .exponentMark where octet == UInt8(ascii: "+") || octet == UInt8(ascii: "-"): state = .exponentSign
        default:
            guard isDigit else { return .unexpectedByte }
            state = .exponent
        }
        return nil
    }

    private mutating func stepBehindDigits(_ octet: UInt8) -> JSONFault.Reason? {
        guard octet | 0x20 == UInt8(ascii: "e") else { return endNumber(before: octet) }
        state = .exponentMark
        return nil
    }

    /// Ends a number. The byte after the number shows that it has ended, so that byte is processed again, as the byte after a value.
    private mutating func endNumber(before octet: UInt8) -> JSONFault.Reason? {
        endValue()
        return step(octet)
    }
}
