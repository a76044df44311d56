/// Which nulls are removed while parsing.
public enum NullRemoval: Hashable, Sendable {
    /// No null is removed.
    case never
    /// Nulls in objects are removed with their names, at any depth. Nulls in arrays stay, so indices do not change.
    case members
    /// Nulls in objects and in arrays are removed, at any depth (as AFNetworking 4 does).
    case everywhere

    var leavesOutMembers: Bool { self != .never }
    var leavesOutElements: Bool { self == .everywhere }
}

/// Options and limits for parsing a JSON text.
public struct JSONParseOptions: Hashable, Sendable {
    /// Which nulls are removed. A text that is only `null` stays null.
    public var removesNulls: NullRemoval
    /// Maximum nesting of arrays and objects; at most `greatestDepthLimit`.
    public var depthLimit: Int
    /// The maximum length of the text, in bytes. A value takes up to 20 times the memory of its text, for example `[0,0,0…`.
    public var lengthLimit: Int
    /// Maximum number of values, nested ones included. By default, only the length of the text limits this number.
    public var valueLimit: Int
    /// Whether a repeated name in an object is an error. Names are compared by bytes after their escapes are decoded.
    public var refusesRepeatedNames: Bool

    /// The highest value for `depthLimit`. It limits the recursion of the parser, which is as deep as the nesting of the text.
    public static let greatestDepthLimit = 1024

    /// Options; by default nothing is removed, and the limits are 512 levels and 64 MiB.
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

/// The first position at which a text is not valid JSON or exceeds a limit.
public struct JSONParseError: Error, Hashable, Sendable {
    /// The kind of error.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// A byte that the grammar does not allow here, or any byte after the value.
        case unexpectedByte = "unexpected_byte"
        /// The text ends before the value does.
        case unexpectedEnd = "unexpected_end"
        /// The bytes are not UTF-8 (RFC 8259 §8.1).
        case notUTF8 = "not_utf8"
        /// A `\u` escape is half of a surrogate pair (RFC 8259 §8.2), which no string can represent.
        case halfPair = "half_pair"
        /// Arrays and objects are nested more deeply than the limit.
        case tooDeep = "too_deep"
        /// The text is longer than the limit.
        case tooLarge = "too_large"
        /// There are more values than the limit.
        case tooManyValues = "too_many_values"
        /// A name is repeated in an object, and the options reject that.
        case repeatedName = "repeated_name"
    }

    /// The kind of error.
    public let reason: Reason
    /// The position in bytes from 0; the text's length for `unexpectedEnd`, the limit for `tooLarge`.
    public let offset: Int
    /// The line, counted from 1; a line ends with LF.
    public let line: Int
    /// The column in bytes, counted from 1.
    public let column: Int
}

extension JSONParseError: CustomStringConvertible {
    /// The error as text, for error messages.
    public var description: String { "\(reason.rawValue) at line \(line), column \(column) (offset \(offset))" }
}
