/// How the names of members are made into the names of properties.
public enum JSONNameStrategy: Hashable, Sendable {
    case asGiven
    /// `first_name` is `firstName`; underscores at the beginning and the end stay.
    case fromSnakeCase
}

/// Decodes `Decodable` types out of a JSON value.
///
/// Numbers are read from their text: whole ones exactly or not at all, never by way of a `Double`. The types of the standard library are
/// known and nothing of Foundation: a `Date` or `URL` decodes as it describes itself, and who wants another form says so in `init(from:)`.
public struct JSONValueDecoder: Sendable {
    /// How names become those of properties.
    public var names: JSONNameStrategy

    /// A decoder with names as they are given, or made of them.
    public init(names: JSONNameStrategy = .asGiven) { self.names = names }

    /// - Throws: `DecodingError`, or what the type's own `init(from:)` throws.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, from value: JSONValue) throws -> Value {
        try Value(from: NodeDecoder(value, at: [], of: self))
    }
}
