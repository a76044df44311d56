/// A JSON value (RFC 8259) that preserves the text's data: numbers keep their digits, objects the order of their members and repeated
/// names.
///
/// Two values are equal if they are written as the same text. `1.0` differs from `1`, and so do objects with the same members in
/// another order. Literals create values: `let value: JSONValue = ["id": 7, "tags": ["a", nil]]`.
public enum JSONValue: Hashable, Sendable {
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, with its digits as written.
    case number(JSONNumber)
    /// A string, with its escapes decoded.
    case string(String)
    /// An array, with its elements in order.
    case array([JSONValue])
    /// An object, with its members in order, including repeated names.
    case object(JSONObject)

    /// Parses a whole text.
    /// - Throws: `JSONParseError` with the position of the first error.
    public init(parsing text: some Collection<UInt8>, options: JSONParseOptions = JSONParseOptions()) throws(JSONParseError) {
        self = try JSONParser.parse(text, options: options)
    }

    /// Parses a whole text.
    /// - Throws: `JSONParseError` with the position of the first error.
    public init(parsing text: String, options: JSONParseOptions = JSONParseOptions()) throws(JSONParseError) {
        self = try JSONParser.parse(text.utf8, options: options)
    }
}

extension JSONValue {
    /// Whether the value is null.
    public var isNull: Bool { self == .null }

    /// The Boolean, or `nil` for any other kind.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The number, or `nil` for any other kind; a string of digits is not a number.
    public var number: JSONNumber? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The number as an `Int`; `nil` for any other kind, for a fraction, and for a number that is too large.
    public var int: Int? { number.flatMap { Int(exactly: $0) } }

    /// The number as the nearest `Double`; `nil` for any other kind, and for a number beyond all finite values.
    public var double: Double? { number.flatMap(Double.init) }

    /// The string, or `nil` for any other kind.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements, or `nil` for any other kind.
    public var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members, or `nil` for any other kind.
    public var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The member with this name (the last one, if the name is repeated); `nil` if there is none, or if the value is not an object.
    public subscript(name: String) -> JSONValue? { object?[name] }

    /// The element at this index; `nil` if there is none, or if the value is not an array.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The value without its nulls, at any depth; a value that is null itself stays.
    public func removingNulls(_ removal: NullRemoval = .everywhere) -> JSONValue {
        switch self {
        case .array(let elements):
            .array(elements.filter { !$0.isNull || !removal.leavesOutElements }.map { $0.removingNulls(removal) })
        case .object(let object):
            .object(
                JSONObject(
                    object.members.compactMap { member in
                        if member.value.isNull && removal.leavesOutMembers { return nil }
                        return JSONObject.Member(name: member.name, value: member.value.removingNulls(removal))
                    }))
        default: self
        }
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Null.
    public init(nilLiteral: ()) { self = .null }
    /// A Boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An integer.
    public init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }
    /// The number with the shortest digits that parse to the same `Double`. A literal that is not finite is a programming error.
    public init(floatLiteral value: Double) {
        guard let number = JSONNumber(value) else { preconditionFailure("JSON has no number for \(value)") }
        self = .number(number)
    }
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object with members in the order of the literal.
    public init(dictionaryLiteral members: (String, JSONValue)...) { self = .object(JSONObject(members)) }
}

extension JSONValue: CustomStringConvertible {
    /// The value as a JSON text without whitespace.
    public var description: String { String(decoding: text(), as: UTF8.self) }
}
