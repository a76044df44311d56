/// A property list value; dictionaries keep the order of their members.
public enum PropertyListValue: Hashable, Sendable {
    /// A string.
    case string(String)
    /// An integer. Values from -2⁶³ to 2⁶⁴ - 1 can be written; wider values can only be read.
    case integer(Int128)
    /// A number with a fraction.
    case real(Double)
    /// True or false.
    case bool(Bool)
    /// A date.
    case date(PropertyListDate)
    /// Bytes.
    case data([UInt8])
    /// Elements in order.
    case array([PropertyListValue])
    /// Members by key.
    case dictionary(PropertyListDictionary)
    /// A reference (UID) within a keyed archive; only the binary form has a type for references.
    case uid(UInt64)
}

/// The members of a dictionary, in order.
public struct PropertyListDictionary: Hashable, Sendable {
    /// A key with its value.
    public struct Member: Hashable, Sendable {
        /// The key, which may be repeated in a dictionary.
        public var key: String
        /// The value of the member.
        public var value: PropertyListValue

        /// A key with its value.
        public init(key: String, value: PropertyListValue) {
            self.key = key
            self.value = value
        }
    }

    /// The members in order.
    public var members: [Member]

    /// A dictionary with members in this order.
    public init(_ members: [(String, PropertyListValue)] = []) { self.members = members.map { Member(key: $0.0, value: $0.1) } }

    /// The value of the last member with this key.
    public subscript(key: String) -> PropertyListValue? { members.last { $0.key == key }?.value }
}

extension PropertyListValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int) { self = .integer(Int128(value)) }
    /// A real.
    public init(floatLiteral value: Double) { self = .real(value) }
    /// A Boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An array.
    public init(arrayLiteral elements: PropertyListValue...) { self = .array(elements) }
    /// A dictionary.
    public init(dictionaryLiteral members: (String, PropertyListValue)...) { self = .dictionary(PropertyListDictionary(members)) }
}

/// Limits for parsing a property list.
public struct PropertyListLimits: Hashable, Sendable {
    /// Maximum length in bytes.
    public var length: Int
    /// Maximum nesting of arrays and dictionaries.
    public var depth: Int
    /// Maximum number of values, including keys. Each reference to a shared value counts as one value.
    public var valueCount: Int

    /// Creates limits with these values.
    public init(length: Int = 64 << 20, depth: Int = 100, valueCount: Int = 1_000_000) {
        precondition(depth <= 200, "elements of XML stand no more deeply either")
        self.length = length
        self.depth = depth
        self.valueCount = valueCount
    }
}

/// Why bytes are not a property list, or a value cannot be written.
public struct PropertyListFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault.
    public enum Reason: String, Hashable, Sendable {
        /// The bytes are neither an XML nor a binary property list, or are invalid in their form.
        case malformed
        case tooDeep = "too_deep"
        case tooLarge = "too_large"
        /// A value that the form cannot express: an integer that is too wide, or a control character in XML.
        case inexpressible
    }

    /// The kind of fault.
    public let reason: Reason
    /// The problem found, or the limit exceeded.
    public let detail: String
    /// The position in bytes from 0; known only for the binary form.
    public let offset: Int?

    init(_ reason: Reason, _ detail: String, at offset: Int? = nil) {
        self.reason = reason
        self.detail = detail
        self.offset = offset
    }

    /// The fault as text, for error messages.
    public var description: String { "\(reason.rawValue): \(detail)" + (offset.map { " at offset \($0)" } ?? "") }
}

extension PropertyListValue {
    /// The two forms that can be read and written.
    public enum Form: Hashable, Sendable {
        /// The XML form, version 1.0.
        case xml
        /// The binary form, which begins with `bplist00`.
        case binary
    }

    /// Parses either form; the first bytes determine which.
    public init(parsing octets: [UInt8], limits: PropertyListLimits = PropertyListLimits()) throws(PropertyListFault) {
        if octets.count > limits.length {
            throw PropertyListFault(.tooLarge, "the property list is longer than \(limits.length) bytes")
        }
        if octets.starts(with: Array("bplist".utf8)) {
            self = try BinaryPropertyListReader.read(octets, limits: limits)
        } else {
            self = try XMLPropertyList.read(octets, limits: limits)
        }
    }

    /// The encoded value.
    public func octets(_ form: Form = .xml) throws(PropertyListFault) -> [UInt8] {
        switch form {
        case .xml: try XMLPropertyList.write(self)
        case .binary: try BinaryPropertyListWriter.write(self)
        }
    }
}
