internal import CXML2

/// Reads an XML text in pieces as they come, and tells what stands in it. Confined to whoever reads.
///
/// libxml2 parses (decision 0022). It is asked neither to load anything nor to put entities in: a text that declares an entity or a default of an
/// attribute is refused at that place, so that nothing it says can grow. A document type that is only named is passed over.
public final class XMLEventReader {
    private static let isReady: Void = xmlInitParser()
    private static let pieceLength = 8 << 10

    private let collector: UnsafeMutablePointer<XMLCollector>
    private let parser: xmlParserCtxtPtr
    private let limits: XMLLimits
    private var length = 0

    /// - Parameters:
    ///   - limits: of what is read.
    ///   - isUTF8: whether the bytes are UTF-8 whatever the text says of itself.
    public init(limits: XMLLimits = XMLLimits(), isUTF8: Bool = false) {
        _ = Self.isReady
        self.limits = limits
        collector = .allocate(capacity: 1)
        collector.initialize(to: XMLCollector(limits: limits))
        var handler = XMLCollector.handler
        guard let parser = xmlCreatePushParserCtxt(&handler, collector, nil, 0, nil) else {
            preconditionFailure("libxml2 has no memory")
        }
        self.parser = parser
        collector.pointee.parser = parser
        let options = XML_PARSE_NONET.rawValue | (isUTF8 ? XML_PARSE_IGNORE_ENC.rawValue : 0)
        xmlCtxtUseOptions(parser, CInt(bitPattern: options))
    }

    deinit {
        if let document = parser.pointee.myDoc { xmlFreeDoc(document) }
        parser.pointee.myDoc = nil
        xmlFreeParserCtxt(parser)
        collector.deinitialize(count: 1)
        collector.deallocate()
    }

    /// Goes on with the next bytes.
    /// - Returns: what is known to stand there; the last text is told when something else follows.
    /// - Throws: `XMLFault`; nothing more is read after it.
    public func consume(_ octets: Span<UInt8>) throws(XMLFault) -> [XMLEvent] {
        if let fault = collector.pointee.fault { throw fault }
        var index = 0
        while index < octets.count {
            let count = min(Self.pieceLength, octets.count - index)
            length += count
            if length > limits.length { throw stop(.tooLarge, "longer than \(limits.length) bytes") }
            octets.extracting(index..<index + count).withUnsafeBytes { piece in
                // The answer stands in the collector too.
                _ = xmlParseChunk(parser, piece.baseAddress?.assumingMemoryBound(to: CChar.self), CInt(count), 0)
            }
            index += count
            if let fault = collector.pointee.fault { throw fault }
            if pendingCount > limits.markupLength + Self.pieceLength {
                throw stop(.tooLarge, "markup longer than \(limits.markupLength) bytes")
            }
        }
        return collector.pointee.takeEvents()
    }

    /// Nothing more comes.
    /// - Returns: what was held back.
    public func finish() throws(XMLFault) -> [XMLEvent] {
        if let fault = collector.pointee.fault { throw fault }
        let result = xmlParseChunk(parser, nil, 0, 1)
        if let fault = collector.pointee.fault { throw fault }
        guard result == 0, parser.pointee.wellFormed == 1 else { throw stop(.malformed, "it ends too early") }
        return collector.pointee.takeEvents()
    }

    /// Bytes that libxml2 holds until more of a tag has come.
    private var pendingCount: Int {
        guard let input = parser.pointee.input, let next = input.pointee.cur, let end = input.pointee.end else { return 0 }
        return end - next
    }

    private func stop(_ reason: XMLFault.Reason, _ detail: String) -> XMLFault {
        collector.pointee.stop(reason, detail)
        return collector.pointee.fault ?? XMLFault(reason: reason, line: 0, column: 0, detail: detail)
    }
}
