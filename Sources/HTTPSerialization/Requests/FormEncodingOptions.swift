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

    /// The values of truth.
    public enum Booleans: Hashable, Sendable {
        /// `1` and `0`
        case numeric
        /// `true` and `false`
        case literal
    }

    /// What stands for a null.
    public enum Nulls: Hashable, Sendable {
        /// `name`
        case bareName
        /// `name=`
        case emptyValue
        /// Nothing at all.
        case leftOut
    }

    /// What stands for a space.
    public enum Spaces: Hashable, Sendable {
        /// `%20`
        case percent
        /// `+`
        case plus
    }

    /// The names of an array's elements.
    public var arrays: Arrays
    /// The values of truth.
    public var booleans: Booleans
    /// What stands for a null.
    public var nulls: Nulls
    /// What stands for a space.
    public var spaces: Spaces
    /// Members of objects in the order of their names' bytes instead of their own.
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
