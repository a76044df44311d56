/// The name of an element or attribute (Namespaces in XML 1.0).
public struct XMLName: Hashable, Sendable {
    /// The name without its prefix.
    public let local: String
    /// The prefix as written, or `nil`.
    public let prefix: String?
    /// The namespace of the prefix, or the default namespace; `nil` if the name has no namespace.
    public let namespace: String?

    /// A name, by default without prefix and namespace.
    public init(_ local: String, prefix: String? = nil, namespace: String? = nil) {
        self.local = local
        self.prefix = prefix
        self.namespace = namespace
    }

    /// The name as written in the text: `prefix:local`.
    public var qualified: String { prefix.map { "\($0):\(local)" } ?? local }
}

/// An attribute of an element. Namespace declarations are not treated as attributes.
public struct XMLAttribute: Hashable, Sendable {
    /// The name, with a namespace if it has a prefix.
    public let name: XMLName
    /// The value, with its references replaced.
    public let value: String

    /// An attribute.
    public init(name: XMLName, value: String) {
        self.name = name
        self.value = value
    }
}

/// The contents of an XML text, in order.
public enum XMLEvent: Hashable, Sendable {
    /// An element begins.
    case start(XMLName, attributes: [XMLAttribute])
    /// All characters up to the next event of another kind, including CDATA.
    case text(String)
    /// An element ends.
    case end(XMLName)
    /// A comment, without its delimiters.
    case comment(String)
    /// A processing instruction.
    case processingInstruction(target: String, data: String)
}

/// Limits for parsing an XML text.
public struct XMLLimits: Hashable, Sendable {
    /// Maximum length of the text, in bytes.
    public var length: Int
    /// Maximum nesting of elements; at most 250.
    public var depth: Int
    /// Maximum length of one tag, comment or instruction, in bytes.
    public var markupLength: Int
    /// Maximum number of attributes of one element.
    public var attributeCount: Int
    /// Maximum number of nodes of a tree: elements, texts, comments and instructions.
    public var nodeCount: Int

    /// Creates limits with these values.
    public init(
        length: Int = 64 << 20, depth: Int = 128, markupLength: Int = 64 << 10, attributeCount: Int = 256,
        nodeCount: Int = 4_000_000
    ) {
        precondition(depth <= 250, "libxml2 has a limit of its own not far above")
        self.length = length
        self.depth = depth
        self.markupLength = markupLength
        self.attributeCount = attributeCount
        self.nodeCount = nodeCount
    }
}

/// Why parsing an XML text stopped.
public struct XMLFault: Error, Hashable, Sendable {
    /// The kind of fault.
    public enum Reason: String, Hashable, Sendable {
        /// The text is not well-formed, including its namespaces, or it is in an unknown encoding.
        case malformed
        /// The text declares an entity or an attribute. Such declarations can expand a short text to a long one, or refer to a file.
        case declaration
        /// The text refers to an entity that is not one of the five predefined entities.
        case entity
        case tooDeep = "too_deep"
        case tooLarge = "too_large"
    }

    /// The kind of fault.
    public let reason: Reason
    /// The line, counted from 1.
    public let line: Int
    /// The column, counted from 1; 0 if it is unknown.
    public let column: Int
    /// libxml2's message, or the limit exceeded.
    public let detail: String
}

extension XMLFault: CustomStringConvertible {
    /// The fault as text, for error messages.
    public var description: String { "\(reason.rawValue) at line \(line), column \(column): \(detail)" }
}
