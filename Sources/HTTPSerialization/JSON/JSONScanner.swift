import HTTPMessage

/// Scans a JSON text byte by byte, for the parser and the stripper: whitespace, strings, numbers, literals, the bounds of
/// containers, and errors.
struct JSONScanner: ~Copyable {
    /// Why scanning stops.
    enum Stop: Error {
        case fault(JSONParseError.Reason, offset: Int)
        /// No caller waits for the result any more.
        case overdue
    }

    /// A string in the text: the range between its quotes, or, if it has escapes, decoded into `unescaped`.
    enum StringRead {
        case plain(Range<Int>, isASCII: Bool)
        case escaped
    }

    let octets: UnsafeBufferPointer<UInt8>
    let options: JSONParseOptions
    private(set) var index = 0
    private var depth = 0
    private var valuesLeft: Int
    /// The last string with escapes.
    private(set) var unescaped: [UInt8] = []
    /// Called each time that another `octetsBetweenQuestions` bytes have been scanned.
    private let isOverdue: (() -> Bool)?
    private var nextQuestion: Int
    private static let octetsBetweenQuestions = 256 << 10

    init(_ octets: UnsafeBufferPointer<UInt8>, options: JSONParseOptions, isOverdue: (() -> Bool)? = nil) {
        precondition(
            options.depthLimit <= JSONParseOptions.greatestDepthLimit, "the recursion is bounded by greatestDepthLimit")
        self.octets = octets
        self.options = options
        self.isOverdue = isOverdue
        valuesLeft = options.valueLimit
        nextQuestion = isOverdue == nil ? .max : Self.octetsBetweenQuestions
    }

    /// Checks that the text is not longer than the limit. Call this before scanning.
    func checkLength() throws(Stop) {
        if octets.count > options.lengthLimit { throw .fault(.tooLarge, offset: options.lengthLimit) }
    }

    /// Checks that only whitespace is left.
    mutating func finish() throws(Stop) {
        skipBlanks()
        if index < octets.count { throw unexpected() }
    }

    func unexpected() -> Stop {
        .fault(index < octets.count ? .unexpectedByte : .unexpectedEnd, offset: min(index, octets.count))
    }

    /// The error with its line and column.
    func placed(_ reason: JSONParseError.Reason, at offset: Int) -> JSONParseError {
        let before = octets[..<offset]
        let line = before.reduce(1) { $0 + ($1 == ASCII.lf ? 1 : 0) }
        let lineStart = before.lastIndex(of: ASCII.lf).map { $0 + 1 } ?? 0
        return JSONParseError(reason: reason, offset: offset, line: line, column: offset - lineStart + 1)
    }

    // MARK: Values

    @inline(__always)
    private mutating func skipBlanks() {
        while index < octets.count {
            let octet = octets[index]
            guard octet == ASCII.space || octet == ASCII.lf || octet == ASCII.cr || octet == ASCII.tab else { return }
            index += 1
        }
    }

    /// The next byte that is not whitespace.
    @inline(__always)
    mutating func next() throws(Stop) -> UInt8 {
        skipBlanks()
        guard index < octets.count else { throw unexpected() }
        return octets[index]
    }

    /// The first byte of the next value; counts the value.
    @inline(__always)
    mutating func nextValue() throws(Stop) -> UInt8 {
        let octet = try next()
        if valuesLeft == 0 { throw .fault(.tooManyValues, offset: index) }
        valuesLeft &-= 1
        if index >= nextQuestion { try ask() }
        return octet
    }

    private mutating func ask() throws(Stop) {
        nextQuestion = index + Self.octetsBetweenQuestions
        if isOverdue?() == true { throw .overdue }
    }

    mutating func readLiteral(_ literal: StaticString) throws(Stop) {
        for place in 0..<literal.utf8CodeUnitCount {
            guard index < octets.count, octets[index] == literal.utf8Start[place] else { throw unexpected() }
            index += 1
        }
    }

    /// - Returns: the range of the number.
    mutating func readNumber() throws(Stop) -> Range<Int> {
        let start = index
        switch JSONNumber.end(in: octets, from: index) {
        case .success(let end):
            index = end
            return start..<end
        case .failure(let place):
            index = place
            throw unexpected()
        }
    }

    // MARK: Containers

    /// Enters a container; the index moves past the byte that opens it.
    /// - Parameter end: the byte that closes the container.
    /// - Returns: `false` for an empty container; the index is then after its end.
    mutating func enter(until end: UInt8) throws(Stop) -> Bool {
        guard depth < options.depthLimit else { throw .fault(.tooDeep, offset: index) }
        depth += 1
        index += 1
        guard try next() == end else { return true }
        index += 1
        depth -= 1
        return false
    }

    /// After a value in a container, moves past the comma and returns `true`, or past the end of the container and returns `false`.
    mutating func goesOn(until end: UInt8) throws(Stop) -> Bool {
        let octet = try next()
        guard octet == ASCII.comma || octet == end else { throw unexpected() }
        index += 1
        if octet == ASCII.comma { return true }
        depth -= 1
        return false
    }

    /// Expects the quote of a name.
    mutating func nextName() throws(Stop) {
        guard try next() == ASCII.quote else { throw unexpected() }
    }

    /// Expects the colon after a name.
    mutating func readColon() throws(Stop) {
        guard try next() == ASCII.colon else { throw unexpected() }
        index += 1
    }

    // MARK: Strings

    /// Scans a string including its quotes. In a `plain` result, bytes above 127 may not be UTF-8; the caller checks them with
    /// `checkUTF8`.
    @inline(__always)
    mutating func readString() throws(Stop) -> StringRead {
        index += 1
        let start = index
        var isASCII = true
        while true {
            index = JSONScan.endOfPlainText(in: octets, from: index)
            guard index < octets.count else { throw unexpectedEnd(ofStringFrom: start) }
            switch octets[index] {
            case ASCII.quote:
                index += 1
                return .plain(start..<index - 1, isASCII: isASCII)
            case ASCII.backslash:
                try readEscapedString(from: start)
                return .escaped
            case 0x80...:
                isASCII = false
                index = JSONScan.endOfHighOctets(in: octets, from: index)
            default:
                // The bytes before the control character are checked first, so that the first error in the text is reported.
                try checkUTF8(start..<index)
                throw unexpected()
            }
        }
    }

    func checkUTF8(_ range: Range<Int>) throws(Stop) {
        if let place = UTF8Fault.place(in: UnsafeBufferPointer(rebasing: octets[range])) {
            throw .fault(.notUTF8, offset: range.lowerBound + place)
        }
    }

    private func unexpectedEnd(ofStringFrom start: Int) -> Stop {
        let rest = UnsafeBufferPointer(rebasing: octets[start...])
        guard let place = UTF8Fault.place(in: rest), place < rest.count else {
            return .fault(.unexpectedEnd, offset: octets.count)
        }
        return .fault(.notUTF8, offset: start + place)
    }

    private mutating func readEscapedString(from start: Int) throws(Stop) {
        unescaped.removeAll(keepingCapacity: true)
        var runStart = start
        while true {
            index = JSONScan.endOfText(in: octets, from: index)
            guard index < octets.count else { throw unexpectedEnd(ofStringFrom: runStart) }
            if runStart < index {
                // Each run is checked as soon as it ends, so that the first error in the text is reported.
                try checkUTF8(runStart..<index)
                unescaped.append(contentsOf: octets[runStart..<index])
            }
            switch octets[index] {
            case ASCII.quote:
                index += 1
                return
            case ASCII.backslash:
                try readEscape()
                runStart = index
            default: throw unexpected()
            }
        }
    }

    private mutating func readEscape() throws(Stop) {
        index += 1
        guard index < octets.count else { throw unexpected() }
        switch octets[index] {
        case ASCII.quote, ASCII.backslash, ASCII.slash: unescaped.append(octets[index])
        case UInt8(ascii: "b"): unescaped.append(0x08)
        case UInt8(ascii: "f"): unescaped.append(0x0C)
        case UInt8(ascii: "n"): unescaped.append(ASCII.lf)
        case UInt8(ascii: "r"): unescaped.append(ASCII.cr)
        case UInt8(ascii: "t"): unescaped.append(ASCII.tab)
        case UInt8(ascii: "u"):
            try readUnicodeEscape()
            return
        default: throw unexpected()
        }
        index += 1
    }

    /// Scans from the `u` to the end of the escape, or of the second escape of a pair (RFC 8259 §7).
    private mutating func readUnicodeEscape() throws(Stop) {
        let place = index - 1
        index += 1
        var scalar = try readFourDigits()
        if scalar >> 10 == 0xD800 >> 10 {
            guard index + 1 < octets.count, octets[index] == ASCII.backslash, octets[index + 1] == UInt8(ascii: "u") else {
                throw .fault(.halfPair, offset: place)
            }
            index += 2
            let low = try readFourDigits()
            guard low >> 10 == 0xDC00 >> 10 else { throw .fault(.halfPair, offset: place) }
            scalar = 0x10000 + (scalar & 0x3FF) << 10 + low & 0x3FF
        }
        guard let scalar = Unicode.Scalar(scalar) else { throw .fault(.halfPair, offset: place) }
        unescaped.append(contentsOf: String(scalar).utf8)
    }

    private mutating func readFourDigits() throws(Stop) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard index < octets.count, let digit = ASCII.hexValue(octets[index]) else { throw unexpected() }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return value
    }
}
