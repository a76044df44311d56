/// A name of an element or attribute (Namespaces in XML 1.0).
public struct XMLName: Hashable, Sendable {
    /// Without a prefix.
    public let local: String
    /// As it stands in the text, or `nil`.
    public let prefix: String?
    /// The namespace that the prefix, or its absence, stands for; `nil` for none.
    public let namespace: String?

    /// A name; without a namespace where none is given.
    public init(_ local: String, prefix: String? = nil, namespace: String? = nil) {
        self.local = local
        self.prefix = prefix
        self.namespace = namespace
    }

    /// `prefix:local`, as it stands in the text.
    public var qualified: String { prefix.map { "\($0):\(local)" } ?? local }
}

/// An attribute of an element. Declarations of namespaces are none.
public struct XMLAttribute: Hashable, Sendable {
    /// With its namespace, where it has a prefix.
    public let name: XMLName
    /// With its references read.
    public let value: String

    /// An attribute.
    public init(name: XMLName, value: String) {
        self.name = name
        self.value = value
    }
}

/// What stands in an XML text, in order.
public enum XMLEvent: Hashable, Sendable {
    /// An element begins.
    case start(XMLName, attributes: [XMLAttribute])
    /// All characters up to the next other event, CDATA among them.
    case text(String)
    /// An element ends.
    case end(XMLName)
    /// A comment, without its delimiters.
    case comment(String)
    /// A processing instruction.
    case processingInstruction(target: String, data: String)
}

/// How much of an XML text is read.
public struct XMLLimits: Hashable, Sendable {
    /// Of the text, in bytes.
    public var length: Int
    /// How deeply elements may stand in each other; 250 at most.
    public var depth: Int
    /// Of one tag, comment or instruction, in bytes.
    public var markupLength: Int
    /// Of one element.
    public var attributeCount: Int
    /// Of a tree: elements, texts, comments and instructions.
    public var nodeCount: Int

    /// These limits.
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

/// Why an XML text is not read any further.
public struct XMLFault: Error, Hashable, Sendable {
    /// What kind of fault it is, as a word.
    public enum Reason: String, Hashable, Sendable {
        /// Not well-formed, with its namespaces; or in an encoding that is not known.
        case malformed
        /// An entity or an attribute's default is declared: both let a short text stand for a long one, or for a file.
        case declaration
        /// An entity that is not one of XML's own five.
        case entity
        case tooDeep = "too_deep"
        case tooLarge = "too_large"
    }

    /// What kind of fault it is.
    public let reason: Reason
    /// From 1.
    public let line: Int
    /// From 1, where it is known, else 0.
    public let column: Int
    /// What libxml2 says, or which limit it is.
    public let detail: String
}

extension XMLFault: CustomStringConvertible {
    /// For messages.
    public var description: String { "\(reason.rawValue) at line \(line), column \(column): \(detail)" }
}
