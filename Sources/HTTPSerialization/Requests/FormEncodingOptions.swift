/// How parameters are written as pairs of a query or a form. The defaults are AFNetworking's.
public struct FormEncodingOptions: Hashable, Sendable {
    /// How the elements of an array are named.
    public enum Arrays: Hashable, Sendable {
        /// `tags[]=a&tags[]=b`
        case brackets
        /// `tags=a&tags=b`
        case repeated
        /// `tags[0]=a&tags[1]=b`
        case indices
    }

    /// How Booleans are written.
    public enum Booleans: Hashable, Sendable {
        /// `1` and `0`
        case numeric
        /// `true` and `false`
        case literal
    }

    /// How null is written.
    public enum Nulls: Hashable, Sendable {
        /// `name`
        case bareName
        /// `name=`
        case emptyValue
        /// It is left out.
        case leftOut
    }

    /// How a space is written.
    public enum Spaces: Hashable, Sendable {
        /// `%20`
        case percent
        /// `+`
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
