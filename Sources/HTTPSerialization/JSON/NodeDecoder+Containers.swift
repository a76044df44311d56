/// The members of an object, by name. The names are indexed, so that a lookup does not search the object.
struct MemberContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let decoder: NodeDecoder
    private let object: JSONObject
    /// The index of each member by its mapped name; for a repeated name, the index of the last member.
    private let places: [String: Int]

    init(_ object: JSONObject, of decoder: NodeDecoder) {
        self.decoder = decoder
        self.object = object
        var places: [String: Int] = [:]
        places.reserveCapacity(object.count)
        for (place, member) in object.members.enumerated() { places[decoder.settings.names.property(member.name)] = place }
        self.places = places
    }

    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] {
        object.members.indices.compactMap { place in
            let name = decoder.settings.names.property(object.members[place].name)
            return places[name] == place ? Key(stringValue: name) : nil
        }
    }

    func contains(_ key: Key) -> Bool { places[key.stringValue] != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try node(key).value.isNull }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try node(key).decode(type) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try node(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { try node(key).unkeyedContainer() }

    func superDecoder() throws -> any Decoder {
        decoder.below(places["super"].map { object.members[$0].value } ?? .null, NameKey("super"))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try node(key) }

    private func node(_ key: Key) throws -> NodeDecoder {
        guard let place = places[key.stringValue] else {
            let context = DecodingError.Context(
                codingPath: codingPath, debugDescription: "the object has no member \(key.stringValue)")
            throw DecodingError.keyNotFound(key, context)
        }
        return decoder.below(object.members[place].value, key)
    }
}

/// The elements of an array, in order.
struct ElementContainer: UnkeyedDecodingContainer {
    private let decoder: NodeDecoder
    private let elements: [JSONValue]
    private(set) var currentIndex = 0

    init(_ elements: [JSONValue], of decoder: NodeDecoder) {
        self.decoder = decoder
        self.elements = elements
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    mutating func decodeNil() throws -> Bool {
        guard try node().value.isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try node().decode(type)
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let container = try node().container(keyedBy: type)
        currentIndex += 1
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try node().unkeyedContainer()
        currentIndex += 1
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try node()
        currentIndex += 1
        return decoder
    }

    private func node() throws -> NodeDecoder {
        let key = NameKey(place: currentIndex)
        guard !isAtEnd else {
            let context = DecodingError.Context(
                codingPath: codingPath + [key], debugDescription: "the array has no more elements")
            throw DecodingError.valueNotFound(JSONValue.self, context)
        }
        return decoder.below(elements[currentIndex], key)
    }
}

extension JSONNameStrategy {
    func property(_ name: String) -> String {
        guard self == .fromSnakeCase, let first = name.firstIndex(where: { $0 != "_" }) else { return name }
        let last = name.lastIndex { $0 != "_" } ?? first
        let words = name[first...last].split(separator: "_")
        guard words.count > 1 else { return name }
        let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst().lowercased() }
        return String(name[..<first]) + words[0].lowercased() + rest.joined() + String(name[name.index(after: last)...])
    }
}
