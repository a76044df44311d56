import HTTPMessage

/// Goes over a JSON text byte by byte, for those who make something of it: what is a blank, a string, a number or a literal, where the
/// containers begin and end, and what is wrong.
struct JSONScanner: ~Copyable {
    /// Why nothing more is read.
    enum Stop: Error {
        case fault(JSONParseError.Reason, offset: Int)
        /// Nobody waits for it any more.
        case overdue
    }

    /// A string as it stands in the text: between its quotes, or with escapes, which are read into `unescaped`.
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
    /// Asked each time that so much more has been read.
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

    /// Before anything is read.
    func checkLength() throws(Stop) {
        if octets.count > options.lengthLimit { throw .fault(.tooLarge, offset: options.lengthLimit) }
    }

    /// Nothing but blanks may be left.
    mutating func finish() throws(Stop) {
        skipBlanks()
        if index < octets.count { throw unexpected() }
    }

    func unexpected() -> Stop {
        .fault(index < octets.count ? .unexpectedByte : .unexpectedEnd, offset: min(index, octets.count))
    }

    /// With its line and column.
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

    /// The next byte that is no blank.
    @inline(__always)
    mutating func next() throws(Stop) -> UInt8 {
        skipBlanks()
        guard index < octets.count else { throw unexpected() }
        return octets[index]
    }

    /// The first byte of the next value, which is counted.
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

    /// - Returns: where it stands.
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

    /// From the byte that begins one to behind it.
    /// - Parameter end: the byte that ends it.
    /// - Returns: `false` for a container without anything in it, behind which the reader stands.
    mutating func enter(until end: UInt8) throws(Stop) -> Bool {
        guard depth < options.depthLimit else { throw .fault(.tooDeep, offset: index) }
        depth += 1
        index += 1
        guard try next() == end else { return true }
        index += 1
        depth -= 1
        return false
    }

    /// Behind a value in a container: `true` behind a comma, `false` behind the container's end.
    mutating func goesOn(until end: UInt8) throws(Stop) -> Bool {
        let octet = try next()
        guard octet == ASCII.comma || octet == end else { throw unexpected() }
        index += 1
        if octet == ASCII.comma { return true }
        depth -= 1
        return false
    }

    /// The quote of a name.
    mutating func nextName() throws(Stop) {
        guard try next() == ASCII.quote else { throw unexpected() }
    }

    /// The colon behind a name.
    mutating func readColon() throws(Stop) {
        guard try next() == ASCII.colon else { throw unexpected() }
        index += 1
    }

    // MARK: Strings

    /// From the quote that begins it to behind the one that ends it. Whether bytes above 127 are UTF-8 is for the caller to see, by `checkUTF8`.
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
                // What stands before a control is judged first.
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
                // Judged run by run, so that faults are found in the order in which they stand.
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

    /// From the `u` to behind the escape, or behind the second one of a pair (RFC 8259 §7).
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
