/// A JSON value that is written with its members in the given order.
package indirect enum JSONText: Sendable {
    case string(String)
    case number(Int)
    /// Infinity and NaN are written as `null`.
    case decimal(Double)
    case bool(Bool)
    case null
    case array([JSONText])
    case object([(String, JSONText)])

    /// A count as a number. JSON readers may read numbers above 2^53 inexactly.
    package static func count(_ count: UInt64) -> JSONText { .number(Int(clamping: count)) }

    package static func pattern(_ pattern: String) -> JSONText {
        .object([("type", .string("string")), ("pattern", .string(pattern))])
    }

    /// The schema of a setting's value that is a string with a unit, or a number without one.
    package static func numberOrPattern(_ pattern: String) -> JSONText {
        .object([("type", .array([.string("integer"), .string("string")])), ("pattern", .string(pattern))])
    }

    package func written(indentation: Int = 0) -> String {
        let inner = String(repeating: "  ", count: indentation + 1)
        let outer = String(repeating: "  ", count: indentation)
        switch self {
        case .string(let text): return Self.quoted(text)
        case .number(let number): return "\(number)"
        case .decimal(let number): return number.isFinite ? "\(number)" : "null"
        case .bool(let bool): return "\(bool)"
        case .null: return "null"
        case .array(let elements) where elements.isEmpty: return "[]"
        case .array(let elements):
            return "[\n" + elements.map { inner + $0.written(indentation: indentation + 1) }.joined(separator: ",\n")
                + "\n\(outer)]"
        case .object(let members) where members.isEmpty: return "{}"
        case .object(let members):
            return "{\n"
                + members.map { inner + Self.quoted($0.0) + ": " + $0.1.written(indentation: indentation + 1) }.joined(
                    separator: ",\n")
                + "\n\(outer)}"
        }
    }

    /// The JSON text on one line, without spaces between its parts.
    package func writtenInLine() -> String {
        switch self {
        case .array(let elements): "[" + elements.map { $0.writtenInLine() }.joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { "\(Self.quoted($0.0)):\($0.1.writtenInLine())" }.joined(separator: ",") + "}"
        case .string, .number, .decimal, .bool, .null: written()
        }
    }

    package static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case _ where scalar.isControl:
                let hex = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
