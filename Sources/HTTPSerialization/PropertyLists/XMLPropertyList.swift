import HTTPMessage

/// The XML form, version 1.0.
enum XMLPropertyList {
    // MARK: Reading

    static func read(_ octets: [UInt8], limits: PropertyListLimits) throws(PropertyListFault) -> PropertyListValue {
        let tree: XMLTree
        do throws(XMLFault) {
            tree = try XMLTree(
                parsing: octets,
                limits: XMLLimits(length: limits.length, depth: limits.depth + 3, nodeCount: limits.valueCount * 4))
        } catch {
            let reason: PropertyListFault.Reason =
                error.reason == .tooDeep ? .tooDeep : error.reason == .tooLarge ? .tooLarge : .malformed
            throw PropertyListFault(reason, "line \(error.line): \(error.detail)")
        }
        guard tree.root.name.qualified == "plist" else { throw PropertyListFault(.malformed, "the root element is not plist") }
        let values = try elements(of: tree.root)
        guard values.count == 1 else {
            throw PropertyListFault(.malformed, "the plist element contains \(values.count) values instead of one")
        }
        return try value(of: values[0], depth: 0, limits)
    }

    private static func value(
        of element: XMLTree.Element, depth: Int, _ limits: PropertyListLimits
    ) throws(PropertyListFault) -> PropertyListValue {
        let name = element.name.qualified
        switch name {
        case "dict", "array":
            if depth == limits.depth {
                throw PropertyListFault(.tooDeep, "values are nested more than \(limits.depth) levels deep")
            }
            let parts = try elements(of: element)
            if name == "dict" { return .dictionary(try dictionary(parts, depth: depth, limits)) }
            var values: [PropertyListValue] = []
            for part in parts { values.append(try value(of: part, depth: depth + 1, limits)) }
            return .array(values)
        case "string": return .string(try text(of: element))
        case "true", "false":
            guard try text(of: element).allSatisfy(\.isWhitespace) else { throw bad(element) }
            return .bool(name == "true")
        default: return try scalar(name, trimmed(try text(of: element)), element)
        }
    }

    private static func scalar(
        _ name: String, _ text: String, _ element: XMLTree.Element
    ) throws(PropertyListFault) -> PropertyListValue {
        switch name {
        case "integer":
            guard let integer = integer(text) else { throw bad(element) }
            return .integer(integer)
        case "real":
            guard !text.contains(where: { $0 == "x" || $0 == "X" }), let real = Double(text) else { throw bad(element) }
            return .real(real)
        case "date":
            guard let date = PropertyListDate(text) else { throw bad(element) }
            return .date(date)
        case "data":
            guard let data = Base64.decode(text.utf8.filter { !isBlank($0) }) else { throw bad(element) }
            return .data(data)
        default: throw PropertyListFault(.malformed, "the element \(name) is unknown")
        }
    }

    private static func dictionary(
        _ parts: [XMLTree.Element], depth: Int, _ limits: PropertyListLimits
    ) throws(PropertyListFault) -> PropertyListDictionary {
        guard parts.count % 2 == 0 else { throw PropertyListFault(.malformed, "a key has no value") }
        var members: [(String, PropertyListValue)] = []
        for place in stride(from: 0, to: parts.count, by: 2) {
            guard parts[place].name.qualified == "key" else { throw PropertyListFault(.malformed, "a value has no key") }
            members.append((try text(of: parts[place]), try value(of: parts[place + 1], depth: depth + 1, limits)))
        }
        return PropertyListDictionary(members)
    }

    /// Child elements; only whitespace is allowed between them.
    private static func elements(of element: XMLTree.Element) throws(PropertyListFault) -> [XMLTree.Element] {
        for child in element.children {
            if case .text(let text) = child, !text.allSatisfy(\.isWhitespace) {
                throw PropertyListFault(.malformed, "the element \(element.name.qualified) contains text, which is not allowed")
            }
        }
        return element.elements
    }

    private static func text(of element: XMLTree.Element) throws(PropertyListFault) -> String {
        guard element.elements.isEmpty else { throw bad(element) }
        return element.text
    }

    private static func bad(_ element: XMLTree.Element) -> PropertyListFault {
        PropertyListFault(.malformed, "no \(element.name.qualified): \(element.text.prefix(40))")
    }

    private static func isBlank(_ octet: UInt8) -> Bool { ASCII.isBlank(octet) || octet == ASCII.lf || octet == ASCII.cr }

    private static func trimmed(_ text: String) -> String {
        var octets = Array(text.utf8)[...]
        while let first = octets.first, isBlank(first) { octets.removeFirst() }
        while let last = octets.last, isBlank(last) { octets.removeLast() }
        return String(decoding: octets, as: UTF8.self)
    }

    /// Parses an integer: decimal, or hexadecimal after `0x`.
    private static func integer(_ text: String) -> Int128? {
        let isNegative = text.hasPrefix("-")
        let digits = isNegative || text.hasPrefix("+") ? text.dropFirst() : text[...]
        guard let first = digits.utf8.first, ASCII.isDigit(first) else { return nil }
        let isHexadecimal = digits.hasPrefix("0x") || digits.hasPrefix("0X")
        let sign = isNegative ? "-" : ""
        return isHexadecimal ? Int128(sign + digits.dropFirst(2), radix: 16) : Int128(sign + digits)
    }

    // MARK: Writing

    static func write(_ value: PropertyListValue) throws(PropertyListFault) -> [UInt8] {
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">

            """
        try write(value, depth: 0, to: &text)
        text += "</plist>\n"
        return Array(text.utf8)
    }

    private static func write(_ value: PropertyListValue, depth: Int, to text: inout String) throws(PropertyListFault) {
        let indent = String(repeating: "\t", count: depth)
        func line(_ name: String, _ content: String) -> String { "\(indent)<\(name)>\(content)</\(name)>\n" }
        switch value {
        case .string(let string): text += line("string", try escaped(string))
        case .integer(let integer): text += line("integer", "\(try checked(integer))")
        // Swift's description of NaN may contain more than `nan`, which other readers do not accept.
        case .real(let real): text += line("real", real.isNaN ? "nan" : "\(real)")
        case .bool(let bool): text += "\(indent)<\(bool ? "true" : "false")/>\n"
        case .date(let date):
            guard let moment = date.text else { throw PropertyListFault(.inexpressible, "\(date)") }
            text += line("date", moment)
        case .data(let octets):
            text += "\(indent)<data>\n"
            // Lines have the length that other writers use: 76 columns, where a tab is eight columns.
            let lineLength = max(16, 76 - 8 * depth) / 4 * 3
            for start in stride(from: 0, to: octets.count, by: lineLength) {
                text += indent + Base64.encode(Array(octets[start..<min(start + lineLength, octets.count)])) + "\n"
            }
            text += "\(indent)</data>\n"
        case .array(let elements):
            if elements.isEmpty { return text += "\(indent)<array/>\n" }
            text += "\(indent)<array>\n"
            for element in elements { try write(element, depth: depth + 1, to: &text) }
            text += "\(indent)</array>\n"
        case .dictionary(let dictionary):
            if dictionary.members.isEmpty { return text += "\(indent)<dict/>\n" }
            text += "\(indent)<dict>\n"
            for member in dictionary.members {
                text += "\(indent)\t<key>\(try escaped(member.key))</key>\n"
                try write(member.value, depth: depth + 1, to: &text)
            }
            text += "\(indent)</dict>\n"
        case .uid(let number):
            // The XML form has no element for a UID; this is Apple's convention.
            try write(.dictionary(PropertyListDictionary([("CF$UID", .integer(Int128(number)))])), depth: depth, to: &text)
        }
    }

    static func checked(_ integer: Int128) throws(PropertyListFault) -> Int128 {
        guard integer >= Int128(Int64.min), integer <= Int128(UInt64.max) else {
            throw PropertyListFault(.inexpressible, "the integer \(integer) is too large or too small")
        }
        return integer
    }

    /// Escapes text. A carriage return is written as a character reference, since XML parsers turn it into a line feed.
    private static func escaped(_ text: String) throws(PropertyListFault) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\r": escaped += "&#13;"
            case "\t", "\n", " "..."\u{FFFD}", "\u{10000}"..."\u{10FFFF}": escaped.unicodeScalars.append(scalar)
            default:
                throw PropertyListFault(
                    .inexpressible, "XML cannot contain the character U+\(String(scalar.value, radix: 16, uppercase: true))")
            }
        }
        return escaped
    }
}
