/// How member names map to property names.
public enum JSONNameStrategy: Hashable, Sendable {
    case asGiven
    /// `first_name` becomes `firstName`; leading and trailing underscores stay.
    case fromSnakeCase
}

/// Decodes `Decodable` types from a JSON value.
///
/// Integers are read from their text exactly, or the decoding fails; they are never converted through a `Double`. Foundation types
/// get no special treatment: a `Date` or `URL` decodes as its own `init(from:)` does. For another form, write your own `init(from:)`.
public struct JSONValueDecoder: Sendable {
    /// How member names map to property names.
    public var names: JSONNameStrategy

    /// A decoder with this mapping of names.
    public init(names: JSONNameStrategy = .asGiven) { self.names = names }

    /// - Throws: `DecodingError`, or what the type's own `init(from:)` throws.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, from value: JSONValue) throws -> Value {
        try Value(from: NodeDecoder(value, at: [], of: self))
    }
}
