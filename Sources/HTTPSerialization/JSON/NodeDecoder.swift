/// Decodes from a JSON value at a known path.
struct NodeDecoder: Decoder {
    let value: JSONValue
    let codingPath: [any CodingKey]
    let settings: JSONValueDecoder
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ value: JSONValue, at path: [any CodingKey], of settings: JSONValueDecoder) {
        self.value = value
        codingPath = path
        self.settings = settings
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let object) = value else { throw mismatch("an object") }
        return KeyedDecodingContainer(MemberContainer<Key>(object, of: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw mismatch("an array") }
        return ElementContainer(elements, of: self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func below(_ value: JSONValue, _ key: any CodingKey) -> NodeDecoder {
        NodeDecoder(value, at: codingPath + [key], of: settings)
    }

    func mismatch(_ expected: String) -> DecodingError {
        let context = DecodingError.Context(
            codingPath: codingPath, debugDescription: "expected \(expected), found \(value.kind)")
        return value.isNull ? .valueNotFound(JSONValue.self, context) : .typeMismatch(JSONValue.self, context)
    }
}

extension NodeDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value.isNull }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard let bool = value.bool else { throw mismatch("true or false") }
        return bool
    }

    func decode(_ type: String.Type) throws -> String {
        guard let string = value.string else { throw mismatch("a string") }
        return string
    }

    func decode(_ type: Double.Type) throws -> Double {
        guard let number = value.number else { throw mismatch("a number") }
        guard let double = Double(number) else { throw outOfRange(number, "a Double") }
        return double
    }

    func decode(_ type: Float.Type) throws -> Float {
        guard let number = value.number else { throw mismatch("a number") }
        guard let float = Float(number.text), float.isFinite else { throw outOfRange(number, "a Float") }
        return float
    }

    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    func decode(_ type: Int128.Type) throws -> Int128 { try integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // If the requested type is `JSONValue`, the value is returned unchanged.
        if let value = value as? Value { return value }
        if settings.readsFoundationTypes, let converted = try converted(for: type) { return try Value(from: converted) }
        return try Value(from: self)
    }

    private func integer<Integer: FixedWidthInteger>() throws -> Integer {
        guard let number = value.number else { throw mismatch("a number") }
        guard let integer = Integer(exactly: number) else { throw outOfRange(number, "\(Integer.self)") }
        return integer
    }

    private func outOfRange(_ number: JSONNumber, _ type: String) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(codingPath: codingPath, debugDescription: "\(number.text) is not a value of \(type)"))
    }
}

extension JSONValue {
    /// The kind of the value, for error messages.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a Boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSONValue: Codable {
    /// With `JSONValueDecoder`, decodes the value unchanged. Other decoders do not give access to a number's text, so a number
    /// becomes an `Int`, or else a `Double`.
    public init(from decoder: any Decoder) throws {
        if let node = decoder as? NodeDecoder {
            self = node.value
            return
        }
        if let container = try? decoder.container(keyedBy: NameKey.self) {
            self = .object(
                JSONObject(
                    try container.allKeys.map {
                        JSONObject.Member(name: $0.stringValue, value: try container.decode(JSONValue.self, forKey: $0))
                    }))
            return
        }
        if var container = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
            self = .array(elements)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .number(JSONNumber(value))
        } else if let value = try? container.decode(Double.self), let number = JSONNumber(value) {
            self = .number(number)
        } else {
            self = .string(try container.decode(String.self))
        }
    }

    /// A number that fits an `Int` is encoded as an `Int`, and any other number as the nearest `Double`, since encoders accept no
    /// text.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value): try value.encode(to: encoder)
        case .number(let number):
            if let value = Int(exactly: number) { return try value.encode(to: encoder) }
            guard let value = Double(number) else {
                let context = EncodingError.Context(
                    codingPath: encoder.codingPath, debugDescription: "no Double represents \(number)")
                throw EncodingError.invalidValue(number, context)
            }
            try value.encode(to: encoder)
        case .string(let value): try value.encode(to: encoder)
        case .array(let elements): try elements.encode(to: encoder)
        case .object(let object):
            var container = encoder.container(keyedBy: NameKey.self)
            for member in object.members { try container.encode(member.value, forKey: NameKey(member.name)) }
        }
    }
}

/// A member name or element index in a path.
struct NameKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(place: Int) {
        stringValue = "\(place)"
        intValue = place
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(place: intValue) }
}
