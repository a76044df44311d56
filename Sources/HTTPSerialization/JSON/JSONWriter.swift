import HTTPMessage

/// Options for writing a JSON value.
public struct JSONWriteOptions: Hashable, Sendable {
    /// Writes each member and element on its own line, indented by two spaces.
    public var isIndented: Bool
    /// Sorts members by the bytes of their names; repeated names keep their order.
    public var sortsNames: Bool
    /// Writes `\/` for a slash, for texts embedded in HTML.
    public var escapesSlashes: Bool
    /// Writes `\u` escapes for all characters above 127, for readers without UTF-8.
    public var escapesNonASCII: Bool

    /// Options; by default the shortest text.
    public init(
        isIndented: Bool = false, sortsNames: Bool = false, escapesSlashes: Bool = false, escapesNonASCII: Bool = false
    ) {
        self.isIndented = isIndented
        self.sortsNames = sortsNames
        self.escapesSlashes = escapesSlashes
        self.escapesNonASCII = escapesNonASCII
    }
}

extension JSONValue {
    /// The value as a UTF-8 text (RFC 8259): numbers with their digits as written, strings with as few escapes as possible.
    public func text(_ options: JSONWriteOptions = JSONWriteOptions()) -> [UInt8] {
        var writer = JSONWriter(options)
        writer.write(self)
        return writer.text
    }
}

/// Builds the text.
struct JSONWriter {
    private(set) var text: [UInt8] = []
    private let options: JSONWriteOptions
    private var depth = 0

    init(_ options: JSONWriteOptions) { self.options = options }

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: text.append("null")
        case .bool(let value): text.append(value ? "true" : "false")
        case .number(let number): text.append(contentsOf: number.text.utf8)
        case .string(let string): write(string)
        case .array(let elements):
            write(elements, open: "[", close: "]") { writer, element in writer.write(element) }
        case .object(let object):
            let members = ordered(object.members)
            write(members, open: "{", close: "}") { writer, member in
                writer.write(member.name)
                writer.text.append(writer.options.isIndented ? ": " : ":")
                writer.write(member.value)
            }
        }
    }

    private func ordered(_ members: [JSONObject.Member]) -> [JSONObject.Member] {
        guard options.sortsNames else { return members }
        let names = members.enumerated().sorted { left, right in
            left.element.name == right.element.name
                ? left.offset < right.offset : left.element.name.utf8.lexicographicallyPrecedes(right.element.name.utf8)
        }
        return names.map(\.element)
    }

    private mutating func write<Part>(
        _ parts: [Part], open: StaticString, close: StaticString, _ writePart: (inout JSONWriter, Part) -> Void
    ) {
        text.append(open)
        depth += 1
        for (place, part) in parts.enumerated() {
            if place > 0 { text.append(",") }
            beginLine()
            writePart(&self, part)
        }
        depth -= 1
        if !parts.isEmpty { beginLine() }
        text.append(close)
    }

    private mutating func beginLine() {
        guard options.isIndented else { return }
        text.append("\n")
        for _ in 0..<depth { text.append("  ") }
    }

    private mutating func write(_ string: String) {
        var string = string
        string.withUTF8 { write(string: $0) }
    }

    /// - Parameter octets: the string in UTF-8, without quotes and escapes.
    mutating func write(string octets: UnsafeBufferPointer<UInt8>) {
        text.append("\"")
        var start = 0
        while start < octets.count {
            let end = endOfRun(in: octets, from: start)
            text.append(contentsOf: octets[start..<end])
            start = end < octets.count ? writeEscape(in: octets, at: end) : end
        }
        text.append("\"")
    }

    private func endOfRun(in octets: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        guard options.escapesSlashes || options.escapesNonASCII else { return JSONScan.endOfText(in: octets, from: start) }
        var index = start
        while index < octets.count {
            let octet = octets[index]
            let isPlain = octet >= 0x20 && octet != ASCII.quote && octet != ASCII.backslash
            if !isPlain || octet == ASCII.slash && options.escapesSlashes || octet >= 0x80 && options.escapesNonASCII { break }
            index += 1
        }
        return index
    }

    /// - Returns: the position after the escaped part.
    private mutating func writeEscape(in octets: UnsafeBufferPointer<UInt8>, at place: Int) -> Int {
        switch octets[place] {
        case ASCII.quote: text.append("\\\"")
        case ASCII.backslash: text.append("\\\\")
        case ASCII.slash: text.append("\\/")
        case 0x08: text.append("\\b")
        case 0x0C: text.append("\\f")
        case ASCII.lf: text.append("\\n")
        case ASCII.cr: text.append("\\r")
        case ASCII.tab: text.append("\\t")
        case let octet where octet < 0x80: writeEscape(of: UInt16(octet))
        default:
            let end = JSONScan.endOfHighOctets(in: octets, from: place)
            for unit in String(decoding: octets[place..<end], as: UTF8.self).utf16 { writeEscape(of: unit) }
            return end
        }
        return place + 1
    }

    private mutating func writeEscape(of unit: UInt16) {
        text.append("\\u")
        for shift in [12, 8, 4, 0] as [UInt16] {
            let digit = UInt8(unit >> shift & 0xF)
            text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}
