/// An XML text as a tree.
public struct XMLTree: Hashable, Sendable {
    /// The root element.
    public var root: Element

    /// An element with its content.
    public struct Element: Hashable, Sendable {
        /// The name with its namespace.
        public var name: XMLName
        /// The attributes in order.
        public var attributes: [XMLAttribute]
        /// The children in order.
        public var children: [Node]

        /// An element, by default without attributes and children.
        public init(_ name: XMLName, attributes: [XMLAttribute] = [], children: [Node] = []) {
            self.name = name
            self.attributes = attributes
            self.children = children
        }
    }

    /// A child of an element.
    public indirect enum Node: Hashable, Sendable {
        /// An element.
        case element(Element)
        /// Text, with its references replaced.
        case text(String)
        /// A comment, without its delimiters.
        case comment(String)
        /// A processing instruction.
        case processingInstruction(target: String, data: String)
    }

    /// A tree with this root.
    public init(root: Element) { self.root = root }

    /// Parses a whole text. Content outside the root element is not kept.
    /// - Parameters:
    ///   - text: the whole text.
    ///   - limits: limits for parsing.
    ///   - isUTF8: whether the bytes are UTF-8 even if the text declares another encoding.
    public init(
        parsing text: [UInt8], limits: XMLLimits = XMLLimits(), isUTF8: Bool = false
    ) throws(XMLFault) {
        guard let tree = try Self.tree(parsing: text, limits: limits, isUTF8: isUTF8, isOverdue: { false }) else {
            preconditionFailure("nobody has said that it takes too long")
        }
        self = tree
    }

    /// - Parameter isOverdue: called before each piece is parsed.
    /// - Returns: `nil` if `isOverdue` returned `true`, which means that no caller waits for the tree any more.
    static func tree(
        parsing text: [UInt8], limits: XMLLimits, isUTF8: Bool, isOverdue: () -> Bool
    ) throws(XMLFault) -> XMLTree? {
        var builder = XMLTreeBuilder(limits: limits)
        let reader = XMLEventReader(limits: limits, isUTF8: isUTF8)
        var start = 0
        while start < text.count {
            if isOverdue() { return nil }
            let end = min(start + 64 << 10, text.count)
            try builder.take(reader.consume(text.span.extracting(start..<end)))
            start = end
        }
        try builder.take(reader.finish())
        return XMLTree(root: try builder.finish())
    }
}

extension XMLTree.Element {
    /// All characters of the element and its descendants.
    public var text: String {
        children.map { child in
            switch child {
            case .text(let text): text
            case .element(let element): element.text
            case .comment, .processingInstruction: ""
            }
        }.joined()
    }

    /// The child elements.
    public var elements: [XMLTree.Element] {
        children.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// The first child element with this local name, in any namespace.
    public func first(_ name: String) -> XMLTree.Element? { elements.first { $0.name.local == name } }

    /// The value of the attribute with this name, written as in the text.
    public subscript(attribute: String) -> String? { attributes.first { $0.name.qualified == attribute }?.value }
}

/// Builds a tree from events.
struct XMLTreeBuilder {
    private let limits: XMLLimits
    private var open: [XMLTree.Element] = []
    private var root: XMLTree.Element?
    private var nodeCount = 0

    init(limits: XMLLimits) { self.limits = limits }

    mutating func take(_ events: [XMLEvent]) throws(XMLFault) {
        for event in events {
            nodeCount += 1
            if nodeCount > limits.nodeCount {
                throw XMLFault(reason: .tooLarge, line: 0, column: 0, detail: "the text has more than \(limits.nodeCount) nodes")
            }
            switch event {
            case .start(let name, let attributes): open.append(XMLTree.Element(name, attributes: attributes))
            case .end:
                guard let element = open.popLast() else { continue }
                if open.isEmpty { root = element } else { append(.element(element)) }
            case .text(let text): append(.text(text))
            case .comment(let text): append(.comment(text))
            case .processingInstruction(let target, let data): append(.processingInstruction(target: target, data: data))
            }
        }
    }

    func finish() throws(XMLFault) -> XMLTree.Element {
        guard let root else { throw XMLFault(reason: .malformed, line: 0, column: 0, detail: "the text contains no element") }
        return root
    }

    private mutating func append(_ node: XMLTree.Node) {
        if !open.isEmpty { open[open.count - 1].children.append(node) }
    }
}
