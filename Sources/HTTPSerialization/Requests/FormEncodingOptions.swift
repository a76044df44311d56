/// How parameters become the pairs of a query or a form. The defaults are AFNetworking's.
public struct FormEncodingOptions: Hashable, Sendable {
    /// The names of an array's elements.
    public enum Arrays: Hashable, Sendable {
        /// `tags[]=a&tags[]=b`
        case brackets
        /// `tags=a&tags=b`
        case repeated
        /// `tags[0]=a&tags[1]=b`
        case indices
    }

    public enum Booleans: Hashable, Sendable {
        /// `1` and `0`
        case numeric
        /// `true` and `false`
        case literal
    }

    public enum Nulls: Hashable, Sendable {
        /// `name`
        case bareName
        /// `name=`
        case emptyValue
        /// Nothing at all.
        case leftOut
    }

    public enum Spaces: Hashable, Sendable {
        /// `%20`
        case percent
        /// `+`
        case plus
    }

    public var arrays: Arrays
    public var booleans: Booleans
    public var nulls: Nulls
    public var spaces: Spaces
    /// Members of objects in the order of their names' octets instead of their own.
    public var sortsNames: Bool

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
