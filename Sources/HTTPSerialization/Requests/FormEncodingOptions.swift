/// How parameters are written as pairs of a query or a form. The defaults are AFNetworking's.
public struct FormEncodingOptions: Hashable, Sendable {
    /// How the elements of an array are named.
    public enum Arrays: Hashable, Sendable {
        /// Empty brackets after the name: `tags[]=a&tags[]=b`.
        case brackets
        /// The name alone, repeated: `tags=a&tags=b`.
        case repeated
        /// The index in brackets after the name: `tags[0]=a&tags[1]=b`.
        case indices
    }

    /// How Booleans are written.
    public enum Booleans: Hashable, Sendable {
        /// True is `1`, false is `0`.
        case numeric
        /// The words `true` and `false`.
        case literal
    }

    /// How null is written.
    public enum Nulls: Hashable, Sendable {
        /// The name without an equals sign: `name`.
        case bareName
        /// The name with an empty value: `name=`.
        case emptyValue
        /// Null values are left out.
        case leftOut
    }

    /// How a space is written.
    public enum Spaces: Hashable, Sendable {
        /// A space is `%20`.
        case percent
        /// A space is `+`.
        case plus
    }

    /// How the elements of an array are named.
    public var arrays: Arrays
    /// How Booleans are written.
    public var booleans: Booleans
    /// How null is written.
    public var nulls: Nulls
    /// How a space is written.
    public var spaces: Spaces
    /// Sorts members of objects by the bytes of their names.
    public var sortsNames: Bool

    /// Options; by default AFNetworking's.
    public init(
        arrays: Arrays = .brackets, booleans: Booleans = .numeric, nulls: Nulls = .bareName, spaces: Spaces = .percent,
        sortsNames: Bool = true
    ) {
        self.arrays = arrays
        self.booleans = booleans
        self.nulls = nulls
        self.spaces = spaces
        self.sortsNames = sortsNames
    }
}
