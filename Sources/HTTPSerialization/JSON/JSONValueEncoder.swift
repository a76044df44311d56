/// Encodes `Encodable` types as JSON values, with members in the order in which they are encoded.
///
/// As in `JSONValueDecoder`, Foundation types get no special treatment.
public struct JSONValueEncoder: Sendable {
    /// An encoder.
    public init() {}

    /// - Throws: `EncodingError` for a value that is infinite or NaN; errors of the type's own `encode(to:)`.
    public func encode(_ value: some Encodable) throws -> JSONValue {
        let node = NodeEncoder(at: [])
        try node.encode(value)
        return node.value
    }
}

/// One value while it is encoded. Confined to one call of `encode`.
final class NodeEncoder: Encoder {
    private enum Kind { case nothing, value, members, elements }

    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    private var kind = Kind.nothing
    private var single = JSONValue.null
    private var names: [String] = []
    private var nodes: [NodeEncoder] = []
    /// The index of each name, so that adding a member needs no search.
    private var places: [String: Int] = [:]

    init(at path: [any CodingKey]) { codingPath = path }

    /// An empty object for a type that encodes nothing.
    var value: JSONValue {
        switch kind {
        case .value: single
        case .nothing, .members: .object(JSONObject(zip(names, nodes).map { ($0, $1.value) }))
        case .elements: .array(nodes.map(\.value))
        }
    }

    private func become(_ wanted: Kind) {
        precondition(kind == .nothing || kind == wanted, "a type encodes itself as one kind of value")
        kind = wanted
    }

    private func set(_ value: JSONValue) {
        become(.value)
        single = value
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        become(.members)
        return KeyedEncodingContainer(MemberEncoder(node: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        become(.elements)
        return ElementEncoder(node: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    /// The node for a member. If a name is encoded again, the new value replaces the first one.
    func member(_ key: any CodingKey) -> NodeEncoder {
        let node = NodeEncoder(at: codingPath + [key])
        if let place = places[key.stringValue] {
            nodes[place] = node
        } else {
            places[key.stringValue] = nodes.count
            names.append(key.stringValue)
            nodes.append(node)
        }
        return node
    }

    func element() -> NodeEncoder {
        let node = NodeEncoder(at: codingPath + [NameKey(place: nodes.count)])
        nodes.append(node)
        return node
    }

    var elementCount: Int { nodes.count }
}

extension NodeEncoder: SingleValueEncodingContainer {
    func encodeNil() { set(.null) }
    func encode(_ value: Bool) { set(.bool(value)) }
    func encode(_ value: String) { set(.string(value)) }
    func encode(_ value: Double) throws { set(.number(try number(value))) }
    func encode(_ value: Float) throws {
        // Writes the digits of the `Float` itself: the same number as a `Double` has more digits.
        guard value.isFinite, let number = JSONNumber(value.description) else { throw noNumber(value) }
        set(.number(number))
    }
    func encode(_ value: Int) { integer(value) }
    func encode(_ value: Int8) { integer(value) }
    func encode(_ value: Int16) { integer(value) }
    func encode(_ value: Int32) { integer(value) }
    func encode(_ value: Int64) { integer(value) }
    func encode(_ value: Int128) { integer(value) }
    func encode(_ value: UInt) { integer(value) }
    func encode(_ value: UInt8) { integer(value) }
    func encode(_ value: UInt16) { integer(value) }
    func encode(_ value: UInt32) { integer(value) }
    func encode(_ value: UInt64) { integer(value) }
    func encode(_ value: UInt128) { integer(value) }

    func encode<Value: Encodable>(_ value: Value) throws {
        // A value that is already JSON is used unchanged.
        if let value = value as? JSONValue { set(value) } else { try value.encode(to: self) }
    }

    private func integer(_ value: some BinaryInteger) { set(.number(JSONNumber(value))) }

    private func number(_ value: Double) throws -> JSONNumber {
        guard let number = JSONNumber(value) else { throw noNumber(value) }
        return number
    }

    private func noNumber(_ value: Any) -> EncodingError {
        .invalidValue(
            value, EncodingError.Context(codingPath: codingPath, debugDescription: "JSON cannot express the number \(value)"))
    }
}

private struct MemberEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: NodeEncoder
    var codingPath: [any CodingKey] { node.codingPath }

    mutating func encodeNil(forKey key: Key) { node.member(key).encodeNil() }
    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try node.member(key).encode(value) }
    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { node.member(key).container(keyedBy: type) }
    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { node.member(key).unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { node.member(NameKey("super")) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { node.member(key) }
}

private struct ElementEncoder: UnkeyedEncodingContainer {
    let node: NodeEncoder
    var codingPath: [any CodingKey] { node.codingPath }
    var count: Int { node.elementCount }

    mutating func encodeNil() { node.element().encodeNil() }
    mutating func encode<Value: Encodable>(_ value: Value) throws { try node.element().encode(value) }
    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        node.element().container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { node.element().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { node.element() }
}
