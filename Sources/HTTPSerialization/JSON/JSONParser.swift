import HTTPMessage

/// Parses a JSON text into a value by recursive descent, in one pass over the bytes.
///
/// The values of open containers are on two stacks. From there they are moved into arrays of exact size, so each container is one
/// allocation and nothing is copied. Strings of up to 15 bytes, and numbers up to that length, need no allocation. The recursion
/// is as deep as the nesting of the text, which `depthLimit` limits.
struct JSONParser: ~Copyable {
    typealias Stop = JSONScanner.Stop

    private var scanner: JSONScanner
    private var elements = MovingStack<JSONValue>()
    private var members = MovingStack<JSONObject.Member>()

    static func parse(_ text: some Collection<UInt8>, options: JSONParseOptions) throws(JSONParseError) -> JSONValue {
        guard let value = try parse(text, options: options, isOverdue: nil) else {
            preconditionFailure("nobody has said that it takes too long")
        }
        return value
    }

    /// - Parameter isOverdue: called from time to time.
    /// - Returns: `nil` if `isOverdue` returned `true`, which means that no caller waits for the value any more.
    static func parse(
        _ text: some Collection<UInt8>, options: JSONParseOptions, isOverdue: (() -> Bool)?
    ) throws(JSONParseError) -> JSONValue? {
        // The closure's errors are typed, but `withContiguousStorageIfAvailable` only rethrows.
        func result(_ octets: UnsafeBufferPointer<UInt8>) -> Result<JSONValue?, JSONParseError> {
            var parser = JSONParser(JSONScanner(octets, options: options, isOverdue: isOverdue))
            return parser.result()
        }
        return try (text.withContiguousStorageIfAvailable(result) ?? Array(text).withUnsafeBufferPointer(result)).get()
    }

    private init(_ scanner: consuming JSONScanner) { self.scanner = scanner }

    private mutating func result() -> Result<JSONValue?, JSONParseError> {
        do throws(Stop) {
            try scanner.checkLength()
            let value = try parseValue()
            try scanner.finish()
            return .success(value)
        } catch {
            switch error {
            case .fault(let reason, let offset): return .failure(scanner.placed(reason, at: offset))
            case .overdue: return .success(nil)
            }
        }
    }

    private mutating func parseValue() throws(Stop) -> JSONValue {
        switch try scanner.nextValue() {
        case ASCII.quote: return .string(try parseString())
        case UInt8(ascii: "{"): return .object(try parseObject())
        case UInt8(ascii: "["): return .array(try parseArray())
        case UInt8(ascii: "t"):
            try scanner.readLiteral("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try scanner.readLiteral("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try scanner.readLiteral("null")
            return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return .number(JSONNumber(parsed: String(decoding: scanner.octets[try scanner.readNumber()], as: UTF8.self)))
        default: throw scanner.unexpected()
        }
    }

    private mutating func parseArray() throws(Stop) -> [JSONValue] {
        guard try scanner.enter(until: UInt8(ascii: "]")) else { return [] }
        let start = elements.count
        repeat {
            let value = try parseValue()
            if case .null = value, scanner.options.removesNulls.leavesOutElements { continue }
            elements.push(value)
        } while try scanner.goesOn(until: UInt8(ascii: "]"))
        return elements.popAll(from: start)
    }

    private mutating func parseObject() throws(Stop) -> JSONObject {
        guard try scanner.enter(until: UInt8(ascii: "}")) else { return JSONObject() }
        let start = members.count
        var names = scanner.options.refusesRepeatedNames ? Set<String>() : nil
        repeat {
            try scanner.nextName()
            let place = scanner.index
            let name = try parseString()
            if names?.insert(name).inserted == false { throw .fault(.repeatedName, offset: place) }
            try scanner.readColon()
            let value = try parseValue()
            if case .null = value, scanner.options.removesNulls.leavesOutMembers { continue }
            members.push(JSONObject.Member(name: name, value: value))
        } while try scanner.goesOn(until: UInt8(ascii: "}"))
        return JSONObject(members.popAll(from: start))
    }

    private mutating func parseString() throws(Stop) -> String {
        switch try scanner.readString() {
        case .escaped: return String(decoding: scanner.unescaped, as: UTF8.self)
        case .plain(let range, let isASCII):
            let part = UnsafeBufferPointer(rebasing: scanner.octets[range])
            if isASCII { return String(decoding: part, as: UTF8.self) }
            guard let text = String(validating: part, as: UTF8.self) else {
                try scanner.checkUTF8(range)
                throw .fault(.notUTF8, offset: range.lowerBound)
            }
            return text
        }
    }
}
