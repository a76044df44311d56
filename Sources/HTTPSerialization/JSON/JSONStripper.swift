import HTTPMessage

/// Minifies a JSON text and removes nulls while it scans the text. The output is the text that `JSONValue` would write, but no
/// value is built, which would take many times the memory.
///
/// The output is never longer than the input.
struct JSONStripper: ~Copyable {
    private typealias Stop = JSONScanner.Stop

    private var scanner: JSONScanner
    private var text: [UInt8] = []

    /// - Parameter isOverdue: called from time to time.
    /// - Returns: `nil` if `isOverdue` returned `true`, which means that no caller waits for the text any more.
    static func strip(
        _ text: [UInt8], options: JSONParseOptions, isOverdue: (() -> Bool)? = nil
    ) throws(JSONParseError) -> [UInt8]? {
        precondition(!options.refusesRepeatedNames, "names are not kept")
        return try text.withUnsafeBufferPointer { octets -> Result<[UInt8]?, JSONParseError> in
            var stripper = JSONStripper(JSONScanner(octets, options: options, isOverdue: isOverdue))
            return stripper.result()
        }.get()
    }

    private init(_ scanner: consuming JSONScanner) {
        self.scanner = scanner
        text.reserveCapacity(min(self.scanner.octets.count, self.scanner.options.lengthLimit))
    }

    private mutating func result() -> Result<[UInt8]?, JSONParseError> {
        do throws(Stop) {
            try scanner.checkLength()
            _ = try copyValue()
            try scanner.finish()
            return .success(text)
        } catch {
            switch error {
            case .fault(let reason, let offset): return .failure(scanner.placed(reason, at: offset))
            case .overdue: return .success(nil)
            }
        }
    }

    /// - Returns: whether the value is null.
    private mutating func copyValue() throws(Stop) -> Bool {
        switch try scanner.nextValue() {
        case ASCII.quote: try copyString()
        case UInt8(ascii: "{"): try copyObject()
        case UInt8(ascii: "["): try copyArray()
        case UInt8(ascii: "t"): try copyLiteral("true")
        case UInt8(ascii: "f"): try copyLiteral("false")
        case UInt8(ascii: "n"):
            try copyLiteral("null")
            return true
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            text.append(contentsOf: scanner.octets[try scanner.readNumber()])
        default: throw scanner.unexpected()
        }
        return false
    }

    private mutating func copyLiteral(_ literal: StaticString) throws(Stop) {
        try scanner.readLiteral(literal)
        text.append(literal)
    }

    private mutating func copyArray() throws(Stop) {
        text.append(UInt8(ascii: "["))
        if try scanner.enter(until: UInt8(ascii: "]")) {
            let beginning = text.count
            repeat {
                let place = text.count
                if place > beginning { text.append(ASCII.comma) }
                if try copyValue(), scanner.options.removesNulls.leavesOutElements { text.removeLast(text.count - place) }
            } while try scanner.goesOn(until: UInt8(ascii: "]"))
        }
        text.append(UInt8(ascii: "]"))
    }

    private mutating func copyObject() throws(Stop) {
        text.append(UInt8(ascii: "{"))
        if try scanner.enter(until: UInt8(ascii: "}")) {
            let beginning = text.count
            repeat {
                let place = text.count
                if place > beginning { text.append(ASCII.comma) }
                try scanner.nextName()
                try copyString()
                try scanner.readColon()
                text.append(ASCII.colon)
                if try copyValue(), scanner.options.removesNulls.leavesOutMembers { text.removeLast(text.count - place) }
            } while try scanner.goesOn(until: UInt8(ascii: "}"))
        }
        text.append(UInt8(ascii: "}"))
    }

    private mutating func copyString() throws(Stop) {
        switch try scanner.readString() {
        case .plain(let range, let isASCII):
            if !isASCII { try scanner.checkUTF8(range) }
            // The string is copied with its quotes.
            text.append(contentsOf: scanner.octets[range.lowerBound - 1..<range.upperBound + 1])
        case .escaped:
            var writer = JSONWriter(JSONWriteOptions())
            scanner.unescaped.withUnsafeBufferPointer { writer.write(string: $0) }
            text.append(contentsOf: writer.text)
        }
    }
}
