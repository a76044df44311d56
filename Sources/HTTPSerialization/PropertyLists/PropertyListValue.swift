/// A property list as a value, with the order of its dictionaries' members.
public enum PropertyListValue: Hashable, Sendable {
    /// A text.
    case string(String)
    /// From -2⁶³ to 2⁶⁴ - 1 where it is written; what is read may be wider.
    case integer(Int128)
    /// A number with a fraction.
    case real(Double)
    /// True or false.
    case bool(Bool)
    /// A time.
    case date(PropertyListDate)
    /// Bytes.
    case data([UInt8])
    /// Values in their order.
    case array([PropertyListValue])
    /// Values by their keys.
    case dictionary(PropertyListDictionary)
    /// A reference within an archive; only binary property lists have a form of its own for it.
    case uid(UInt64)
}

/// The members of a dictionary in the order in which they stand.
public struct PropertyListDictionary: Hashable, Sendable {
    /// A key with its value.
    public struct Member: Hashable, Sendable {
        /// May stand twice in a dictionary.
        public var key: String
        /// What the key stands for.
        public var value: PropertyListValue

        /// A key with its value.
        public init(key: String, value: PropertyListValue) {
            self.key = key
            self.value = value
        }
    }

    /// In order.
    public var members: [Member]

    /// Members in their order.
    public init(_ members: [(String, PropertyListValue)] = []) { self.members = members.map { Member(key: $0.0, value: $0.1) } }

    /// The value of the last member with this key.
    public subscript(key: String) -> PropertyListValue? { members.last { $0.key == key }?.value }
}

extension PropertyListValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    public init(integerLiteral value: Int) { self = .integer(Int128(value)) }
    /// A real.
    public init(floatLiteral value: Double) { self = .real(value) }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An array.
    public init(arrayLiteral elements: PropertyListValue...) { self = .array(elements) }
    /// A dictionary.
    public init(dictionaryLiteral members: (String, PropertyListValue)...) { self = .dictionary(PropertyListDictionary(members)) }
}

/// How much of a property list is read.
public struct PropertyListLimits: Hashable, Sendable {
    /// In bytes.
    public var length: Int
    /// How deeply arrays and dictionaries may stand in each other.
    public var depth: Int
    /// Of values, keys among them, each counted as often as something refers to it.
    public var valueCount: Int

    /// These limits.
    public init(length: Int = 64 << 20, depth: Int = 100, valueCount: Int = 1_000_000) {
        precondition(depth <= 200, "elements of XML stand no more deeply either")
        self.length = length
        self.depth = depth
        self.valueCount = valueCount
    }
}

/// Why bytes are no property list, or a value has no such form.
public struct PropertyListFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of fault it is, as a word.
    public enum Reason: String, Hashable, Sendable {
        /// Neither form, or not what that form permits.
        case malformed
        case tooDeep = "too_deep"
        case tooLarge = "too_large"
        /// A value that the form cannot express: an integer that is too wide, a control character in XML.
        case inexpressible
    }

    /// What kind of fault it is.
    public let reason: Reason
    /// What was found, or which limit it is.
    public let detail: String
    /// In bytes from 0, in the binary form.
    public let offset: Int?

    init(_ reason: Reason, _ detail: String, at offset: Int? = nil) {
        self.reason = reason
        self.detail = detail
        self.offset = offset
    }

    /// For messages.
    public var description: String { "\(reason.rawValue): \(detail)" + (offset.map { " at offset \($0)" } ?? "") }
}

extension PropertyListValue {
    /// The two forms that are read and written.
    public enum Form: Hashable, Sendable {
        /// Version 1.0.
        case xml
        /// `bplist00`.
        case binary
    }

    /// Reads either form, as the first bytes say.
    public init(parsing octets: [UInt8], limits: PropertyListLimits = PropertyListLimits()) throws(PropertyListFault) {
        if octets.count > limits.length { throw PropertyListFault(.tooLarge, "longer than \(limits.length) bytes") }
        if octets.starts(with: Array("bplist".utf8)) {
            self = try BinaryPropertyListReader.read(octets, limits: limits)
        } else {
            self = try XMLPropertyList.read(octets, limits: limits)
        }
    }

    /// The value written down.
    public func octets(_ form: Form = .xml) throws(PropertyListFault) -> [UInt8] {
        switch form {
        case .xml: try XMLPropertyList.write(self)
        case .binary: try BinaryPropertyListWriter.write(self)
        }
    }
}
