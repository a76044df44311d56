import HTTPMessage

/// A field that a request must have, with a value that matches one of the patterns.
package struct FieldCondition: Sendable {
    package let name: FieldName
    package let values: [ValuePattern]

    package init(name: FieldName, values: [ValuePattern]) {
        self.name = name
        self.values = values
    }

    /// - Parameter scratch: an array whose storage is reused.
    func matches(_ request: RequestHead, as readings: MatchedReadings, scratch: inout [UInt8]) -> Bool {
        var isFound = false
        for index in 0..<request.fields.lines.count {
            let line = request.fields.lines[index]
            guard name.mayBeRead(from: request.fields.name(of: line)) else { continue }
            let isNamed = name.names(line, of: request.fields)
            let value = request.fields.value(of: line)
            switch readings {
            case .any: if containsMatch(value, scratch: &scratch) { return true }
            case .asSent: if isNamed, values.contains(matching: value, isFolded: false) { return true }
            case .every:
                guard values.contains(matching: value, isFolded: false) else { return false }
                isFound = isFound || isNamed
            }
        }
        return isFound
    }

    /// Whether the whole value matches a pattern, or one element of a value that is a list. Case is ignored.
    private func containsMatch(_ value: Span<UInt8>, scratch: inout [UInt8]) -> Bool {
        scratch.removeAll(keepingCapacity: true)
        for index in 0..<value.count { scratch.append(ASCII.lowercased(value[index])) }
        if values.contains(matching: scratch.span, isFolded: true) { return true }
        var elements = ListElements()
        while let element = elements.next(in: scratch.span) {
            if values.contains(matching: scratch.span.extracting(element), isFolded: true) { return true }
        }
        return false
    }

}

extension FieldName {
    /// Whether a server may treat a field with the name `other` as the field with this name. Servers that pass fields in environment
    /// variables treat `_` as `-` (RFC 3875 §4.1.18).
    func mayBeRead(from other: Span<UInt8>) -> Bool {
        guard other.count == bytes.count else { return false }
        for index in 0..<other.count where Self.folded(other[index]) != Self.folded(bytes[index]) { return false }
        return true
    }

    private static func folded(_ byte: UInt8) -> UInt8 { byte == UInt8(ascii: "_") ? UInt8(ascii: "-") : ASCII.lowercased(byte) }
}
