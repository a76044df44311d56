/// An XML text as a tree.
public struct XMLTree: Hashable, Sendable {
    /// The one element in which all others stand.
    public var root: Element

    /// An element with what stands in it.
    public struct Element: Hashable, Sendable {
        /// With its namespace.
        public var name: XMLName
        /// In order.
        public var attributes: [XMLAttribute]
        /// In order.
        public var children: [Node]

        /// An element; an empty one where nothing else is given.
        public init(_ name: XMLName, attributes: [XMLAttribute] = [], children: [Node] = []) {
            self.name = name
            self.attributes = attributes
            self.children = children
        }
    }

    /// What may stand in an element.
    public indirect enum Node: Hashable, Sendable {
        /// An element with what is in it.
        case element(Element)
        /// Text, its references replaced.
        case text(String)
        /// A comment, without its delimiters.
        case comment(String)
        /// A processing instruction.
        case processingInstruction(target: String, data: String)
    }

    /// A tree of this element.
    public init(root: Element) { self.root = root }

    /// Reads a whole text. What stands outside of the root is not kept.
    /// - Parameters:
    ///   - text: the whole of it.
    ///   - limits: of what is read.
    ///   - isUTF8: whether the bytes are UTF-8 whatever the text says of itself.
    public init(
        parsing text: [UInt8], limits: XMLLimits = XMLLimits(), isUTF8: Bool = false
    ) throws(XMLFault) {
        guard let tree = try Self.tree(parsing: text, limits: limits, isUTF8: isUTF8, isOverdue: { false }) else {
            preconditionFailure("nobody has said that it takes too long")
        }
        self = tree
    }

    /// - Parameter isOverdue: asked before each piece that is read.
    /// - Returns: `nil` where it says that nobody waits for the tree any more.
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
    /// All characters in it, those of elements within too.
    public var text: String {
        children.map { child in
            switch child {
            case .text(let text): text
            case .element(let element): element.text
            case .comment, .processingInstruction: ""
            }
        }.joined()
    }

    /// The elements right in it.
    public var elements: [XMLTree.Element] {
        children.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// The first element right in it with this local name, whatever its namespace.
    public func first(_ name: String) -> XMLTree.Element? { elements.first { $0.name.local == name } }

    /// The value of the attribute of this name, written as in the text.
    public subscript(attribute: String) -> String? { attributes.first { $0.name.qualified == attribute }?.value }
}

/// Puts events together.
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
                throw XMLFault(reason: .tooLarge, line: 0, column: 0, detail: "more than \(limits.nodeCount) nodes")
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
        guard let root else { throw XMLFault(reason: .malformed, line: 0, column: 0, detail: "no element") }
        return root
    }

    private mutating func append(_ node: XMLTree.Node) {
        if !open.isEmpty { open[open.count - 1].children.append(node) }
    }
}
