import HTTPMessage

/// Reads a JSON text into a value by recursive descent, once over the octets.
///
/// Values of containers that are open stand on two stacks and move from there into arrays of just their size, so that each container
/// is one allocation and nothing is copied. Strings of up to 15 octets, and numbers, are none. The recursion is as deep as the text,
/// which `depthLimit` bounds.
struct JSONParser: ~Copyable {
    private struct Fault: Error {
        let reason: JSONParseError.Reason
        let offset: Int
    }

    private let octets: UnsafeBufferPointer<UInt8>
    private let options: JSONParseOptions
    private var index = 0
    private var depth = 0
    private var elements = MovingStack<JSONValue>()
    private var members = MovingStack<JSONObject.Member>()
    /// Where strings with escapes are put together.
    private var unescaped: [UInt8] = []

    static func parse(_ text: some Collection<UInt8>, options: JSONParseOptions) throws(JSONParseError) -> JSONValue {
        precondition(
            options.depthLimit <= JSONParseOptions.greatestDepthLimit, "the recursion is bounded by greatestDepthLimit")
        // The closure's own errors are typed, but `withContiguousStorageIfAvailable` says only that it rethrows.
        func result(_ octets: UnsafeBufferPointer<UInt8>) -> Result<JSONValue, JSONParseError> {
            var parser = JSONParser(octets, options: options)
            return parser.result()
        }
        return try (text.withContiguousStorageIfAvailable(result) ?? Array(text).withUnsafeBufferPointer(result)).get()
    }

    private init(_ octets: UnsafeBufferPointer<UInt8>, options: JSONParseOptions) {
        self.octets = octets
        self.options = options
    }

    private mutating func result() -> Result<JSONValue, JSONParseError> {
        do throws(Fault) {
            if octets.count > options.lengthLimit { throw Fault(reason: .tooLarge, offset: options.lengthLimit) }
            let value = try parseValue()
            skipBlanks()
            if index < octets.count { throw unexpected() }
            return .success(value)
        } catch {
            return .failure(placed(error))
        }
    }

    private func placed(_ fault: Fault) -> JSONParseError {
        let before = octets[..<fault.offset]
        let line = before.reduce(1) { $0 + ($1 == ASCII.lf ? 1 : 0) }
        let lineStart = before.lastIndex(of: ASCII.lf).map { $0 + 1 } ?? 0
        return JSONParseError(
            reason: fault.reason, offset: fault.offset, line: line, column: fault.offset - lineStart + 1)
    }

    private func unexpected() -> Fault {
        Fault(reason: index < octets.count ? .unexpectedByte : .unexpectedEnd, offset: min(index, octets.count))
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

    /// The next octet that is no blank.
    @inline(__always)
    private mutating func next() throws(Fault) -> UInt8 {
        skipBlanks()
        guard index < octets.count else { throw unexpected() }
        return octets[index]
    }

    private mutating func parseValue() throws(Fault) -> JSONValue {
        switch try next() {
        case ASCII.quote: return .string(try parseString())
        case UInt8(ascii: "{"): return .object(try parseObject())
        case UInt8(ascii: "["): return .array(try parseArray())
        case UInt8(ascii: "t"):
            try parseLiteral("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try parseLiteral("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try parseLiteral("null")
            return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try parseNumber())
        default: throw unexpected()
        }
    }

    private mutating func parseLiteral(_ literal: StaticString) throws(Fault) {
        for place in 0..<literal.utf8CodeUnitCount {
            guard index < octets.count, octets[index] == literal.utf8Start[place] else { throw unexpected() }
            index += 1
        }
    }

    private mutating func parseNumber() throws(Fault) -> JSONNumber {
        switch JSONNumber.end(in: octets, from: index) {
        case .success(let end):
            let text = String(decoding: octets[index..<end], as: UTF8.self)
            index = end
            return JSONNumber(parsed: text)
        case .failure(let place):
            index = place
            throw unexpected()
        }
    }

    // MARK: Containers

    private mutating func enter() throws(Fault) {
        guard depth < options.depthLimit else { throw Fault(reason: .tooDeep, offset: index) }
        depth += 1
        index += 1
    }

    private mutating func parseArray() throws(Fault) -> [JSONValue] {
        try enter()
        let start = elements.count
        if try next() == UInt8(ascii: "]") {
            index += 1
        } else {
            repeat {
                let value = try parseValue()
                if case .null = value, options.removesNulls.leavesOutElements { continue }
                elements.push(value)
            } while try goesOn(until: UInt8(ascii: "]"))
        }
        depth -= 1
        return elements.popAll(from: start)
    }

    private mutating func parseObject() throws(Fault) -> JSONObject {
        try enter()
        let start = members.count
        if try next() == UInt8(ascii: "}") {
            index += 1
            depth -= 1
            return JSONObject()
        }
        var names = options.refusesRepeatedNames ? Set<String>() : nil
        repeat {
            guard try next() == ASCII.quote else { throw unexpected() }
            let place = index
            let name = try parseString()
            if names?.insert(name).inserted == false { throw Fault(reason: .repeatedName, offset: place) }
            guard try next() == ASCII.colon else { throw unexpected() }
            index += 1
            let value = try parseValue()
            if case .null = value, options.removesNulls.leavesOutMembers { continue }
            members.push(JSONObject.Member(name: name, value: value))
        } while try goesOn(until: UInt8(ascii: "}"))
        depth -= 1
        return JSONObject(members.popAll(from: start))
    }

    /// Behind a value in a container: `true` behind a comma, `false` behind the container's end.
    private mutating func goesOn(until end: UInt8) throws(Fault) -> Bool {
        let octet = try next()
        guard octet == ASCII.comma || octet == end else { throw unexpected() }
        index += 1
        return octet == ASCII.comma
    }

    // MARK: Strings

    /// From the quote that begins it to behind the one that ends it.
    private mutating func parseString() throws(Fault) -> String {
        index += 1
        let start = index
        var isASCII = true
        while true {
            index = JSONScan.endOfPlainText(in: octets, from: index)
            guard index < octets.count else { throw unexpectedEnd(ofStringFrom: start) }
            switch octets[index] {
            case ASCII.quote:
                let text = try text(start..<index, isASCII: isASCII)
                index += 1
                return text
            case ASCII.backslash: return try parseEscapedString(from: start)
            case 0x80...:
                isASCII = false
                index = JSONScan.endOfHighOctets(in: octets, from: index)
            default:
                // What stands before a control is judged first.
                _ = try text(start..<index, isASCII: isASCII)
                throw unexpected()
            }
        }
    }

    private func text(_ range: Range<Int>, isASCII: Bool) throws(Fault) -> String {
        let part = UnsafeBufferPointer(rebasing: octets[range])
        if isASCII { return String(decoding: part, as: UTF8.self) }
        guard let text = String(validating: part, as: UTF8.self) else {
            throw Fault(reason: .notUTF8, offset: range.lowerBound + (UTF8Fault.place(in: part) ?? 0))
        }
        return text
    }

    private func unexpectedEnd(ofStringFrom start: Int) -> Fault {
        let rest = UnsafeBufferPointer(rebasing: octets[start...])
        guard let place = UTF8Fault.place(in: rest), place < rest.count else {
            return Fault(reason: .unexpectedEnd, offset: octets.count)
        }
        return Fault(reason: .notUTF8, offset: start + place)
    }

    private mutating func parseEscapedString(from start: Int) throws(Fault) -> String {
        unescaped.removeAll(keepingCapacity: true)
        var runStart = start
        while true {
            index = JSONScan.endOfText(in: octets, from: index)
            guard index < octets.count else { throw unexpectedEnd(ofStringFrom: runStart) }
            if runStart < index {
                // Judged run by run, so that faults are found in the order in which they stand.
                let run = UnsafeBufferPointer(rebasing: octets[runStart..<index])
                if let place = UTF8Fault.place(in: run) { throw Fault(reason: .notUTF8, offset: runStart + place) }
                unescaped.append(contentsOf: run)
            }
            switch octets[index] {
            case ASCII.quote:
                index += 1
                return String(decoding: unescaped, as: UTF8.self)
            case ASCII.backslash:
                try parseEscape()
                runStart = index
            default: throw unexpected()
            }
        }
    }

    private mutating func parseEscape() throws(Fault) {
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
            try parseUnicodeEscape()
            return
        default: throw unexpected()
        }
        index += 1
    }

    /// From the `u` to behind the escape, or behind the second one of a pair (RFC 8259 §7).
    private mutating func parseUnicodeEscape() throws(Fault) {
        let place = index - 1
        index += 1
        var scalar = try parseFourDigits()
        if scalar >> 10 == 0xD800 >> 10 {
            guard index + 1 < octets.count, octets[index] == ASCII.backslash, octets[index + 1] == UInt8(ascii: "u") else {
                throw Fault(reason: .halfPair, offset: place)
            }
            index += 2
            let low = try parseFourDigits()
            guard low >> 10 == 0xDC00 >> 10 else { throw Fault(reason: .halfPair, offset: place) }
            scalar = 0x10000 + (scalar & 0x3FF) << 10 + low & 0x3FF
        }
        guard let scalar = Unicode.Scalar(scalar) else { throw Fault(reason: .halfPair, offset: place) }
        unescaped.append(contentsOf: String(scalar).utf8)
    }

    private mutating func parseFourDigits() throws(Fault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard index < octets.count, let digit = ASCII.hexValue(octets[index]) else { throw unexpected() }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return value
    }
}
