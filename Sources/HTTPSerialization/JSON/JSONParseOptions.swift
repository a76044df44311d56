/// Which nulls are left out while a text is read.
public enum NullRemoval: Hashable, Sendable {
    /// None.
    case never
    /// Members of objects whose value is null, however deep. Elements of arrays stay, and so their places.
    case members
    /// Members of objects and elements of arrays, however deep (as AFNetworking 4 does).
    case everywhere

    var leavesOutMembers: Bool { self != .never }
    var leavesOutElements: Bool { self == .everywhere }
}

/// How a JSON text is read, and how much of it.
public struct JSONParseOptions: Hashable, Sendable {
    /// The text as a whole is never nothing: a null that is the only value stays.
    public var removesNulls: NullRemoval
    /// How deeply arrays and objects may stand in each other; `greatestDepthLimit` at most.
    public var depthLimit: Int
    /// In bytes. A value takes up to 20 times as much memory as its text: `[0,0,0…`.
    public var lengthLimit: Int
    /// How many values there may be in all, those in each other counted one by one. Left alone, as many as the length permits.
    public var valueLimit: Int
    /// Whether an object with the same name twice is a fault. Names are compared by their bytes after escapes are read.
    public var refusesRepeatedNames: Bool

    /// The reader's recursion is as deep as the text.
    public static let greatestDepthLimit = 1024

    /// Options; by default everything is kept, 512 levels and 64 MiB.
    public init(
        removesNulls: NullRemoval = .never, depthLimit: Int = 512, lengthLimit: Int = 64 << 20, valueLimit: Int = .max,
        refusesRepeatedNames: Bool = false
    ) {
        self.removesNulls = removesNulls
        self.depthLimit = depthLimit
        self.lengthLimit = lengthLimit
        self.valueLimit = valueLimit
        self.refusesRepeatedNames = refusesRepeatedNames
    }
}

/// The first place at which a text stops being JSON, or goes past a limit.
public struct JSONParseError: Error, Hashable, Sendable {
    /// What kind of fault it is, as a word.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// A byte that the grammar does not allow here, or anything after the value.
        case unexpectedByte = "unexpected_byte"
        /// The text ends before the value does.
        case unexpectedEnd = "unexpected_end"
        /// The bytes are not UTF-8 (RFC 8259 §8.1).
        case notUTF8 = "not_utf8"
        /// A `\u` escape names half of a pair alone (§8.2): no text can hold it.
        case halfPair = "half_pair"
        /// Arrays and objects stand in each other more deeply than the limit allows.
        case tooDeep = "too_deep"
        /// The text is longer than the limit.
        case tooLarge = "too_large"
        /// There are more values than the limit.
        case tooManyValues = "too_many_values"
        /// A name stands twice in an object, and that is refused.
        case repeatedName = "repeated_name"
    }

    /// What kind of fault it is.
    public let reason: Reason
    /// In bytes from 0; the text's length for `unexpectedEnd`, the limit for `tooLarge`.
    public let offset: Int
    /// From 1; a line ends with LF.
    public let line: Int
    /// In bytes from 1.
    public let column: Int
}

extension JSONParseError: CustomStringConvertible {
    /// For messages.
    public var description: String { "\(reason.rawValue) at line \(line), column \(column) (offset \(offset))" }
}
