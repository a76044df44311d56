/// How member names map to property names.
public enum JSONNameStrategy: Hashable, Sendable {
    case asGiven
    /// `first_name` becomes `firstName`; leading and trailing underscores stay.
    case fromSnakeCase
}

/// Decodes `Decodable` types from a JSON value.
///
/// Integers are read from their text exactly, or the decoding fails; they are never converted through a `Double`. Without options, a type
/// of Foundation decodes as its own `init(from:)` does. `usual` has the options for most APIs.
public struct JSONValueDecoder: Sendable {
    /// How member names map to property names.
    public var names: JSONNameStrategy
    /// How a `Date` is read.
    public var dates = JSONDateStrategy.asGiven
    /// How a `Data` is read.
    public var data = JSONDataStrategy.asGiven
    /// Whether a `URL` is read from a string.
    public var readsURLs = false
    /// Whether a `Decimal` is read from a number, with all its digits.
    public var readsDecimals = false

    /// A decoder with this mapping of names.
    public init(names: JSONNameStrategy = .asGiven) { self.names = names }

    /// - Throws: `DecodingError`, or what the type's own `init(from:)` throws.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, from value: JSONValue) throws -> Value {
        try NodeDecoder(value, at: [], of: self).decode(type)
    }
}
