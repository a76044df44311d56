/// A JSON text as a value (RFC 8259) that loses nothing of what the text says: numbers keep their digits, objects the order of
/// their members and names that stand twice.
///
/// Two values are equal when they write the same text: `1.0` is not `1`, and an object with its members in another order is another.
/// Literals make one: `let value: JSONValue = ["id": 7, "tags": ["a", nil]]`.
public enum JSONValue: Hashable, Sendable {
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, as it is written.
    case number(JSONNumber)
    /// A text, without its quotes and escapes.
    case string(String)
    /// Values in their order.
    case array([JSONValue])
    /// Members in their order, names as often as they are there.
    case object(JSONObject)

    /// Reads a whole text.
    /// - Throws: `JSONParseError` with the place of the first fault.
    public init(parsing text: some Collection<UInt8>, options: JSONParseOptions = JSONParseOptions()) throws(JSONParseError) {
        self = try JSONParser.parse(text, options: options)
    }

    /// Reads a whole text.
    /// - Throws: `JSONParseError` with the place of the first fault.
    public init(parsing text: String, options: JSONParseOptions = JSONParseOptions()) throws(JSONParseError) {
        self = try JSONParser.parse(text.utf8, options: options)
    }
}

extension JSONValue {
    /// Whether it is null.
    public var isNull: Bool { self == .null }

    /// The truth value, or `nil` where it is something else.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The number, or `nil` where it is something else; a string of digits is no number.
    public var number: JSONNumber? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The number as an `Int`, or `nil` where it is none, has a fraction or is too large.
    public var int: Int? { number.flatMap { Int(exactly: $0) } }

    /// The number as the nearest `Double`, or `nil` where it is none or beyond all of them.
    public var double: Double? { number.flatMap(Double.init) }

    /// The text, or `nil` where it is something else.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements, or `nil` where it is something else.
    public var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members, or `nil` where it is something else.
    public var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The member of this name (the last one, where several have it), or `nil` where there is none or this is no object.
    public subscript(name: String) -> JSONValue? { object?[name] }

    /// The element at this place, or `nil` where there is none or this is no array.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The same value without the nulls in it, however deep; a value that is null itself stays.
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
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A whole number.
    public init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }
    /// The shortest digits that read as the same `Double`. Misuse: a literal too large for one.
    public init(floatLiteral value: Double) {
        guard let number = JSONNumber(value) else { preconditionFailure("JSON has no number for \(value)") }
        self = .number(number)
    }
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object, its members in the order of the literal.
    public init(dictionaryLiteral members: (String, JSONValue)...) { self = .object(JSONObject(members)) }
}

extension JSONValue: CustomStringConvertible {
    /// The text without blanks.
    public var description: String { String(decoding: text(), as: UTF8.self) }
}
