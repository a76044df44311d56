internal import CLarderXML2

/// Parses an XML text in pieces as they arrive, and returns its events. Confined to the thread that reads.
///
/// The parser is libxml2 (decision 0022). It loads no external resources and expands no entities. If a text declares an entity or an
/// attribute, the text is rejected at that declaration, so that it cannot expand. A document type without such declarations is
/// ignored.
public final class XMLEventReader {
    private static let isReady: Void = xmlInitParser()
    private static let pieceLength = 8 << 10

    private let collector: UnsafeMutablePointer<XMLCollector>
    private let parser: xmlParserCtxtPtr
    private let limits: XMLLimits
    private var length = 0

    /// - Parameters:
    ///   - limits: limits for parsing.
    ///   - isUTF8: whether the bytes are UTF-8 even if the text declares another encoding.
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

    /// Parses the next bytes.
    /// - Returns: the events known so far. A text event at the end is kept back until the next event ends it.
    /// - Throws: `XMLFault`. After an error nothing more is parsed.
    public func consume(_ octets: Span<UInt8>) throws(XMLFault) -> [XMLEvent] {
        if let fault = collector.pointee.fault { throw fault }
        var index = 0
        while index < octets.count {
            let count = min(Self.pieceLength, octets.count - index)
            length += count
            if length > limits.length { throw stop(.tooLarge, "the text is longer than \(limits.length) bytes") }
            octets.extracting(index..<index + count).withUnsafeBytes { piece in
                // The return value is not needed: the collector has the fault.
                _ = xmlParseChunk(parser, piece.baseAddress?.assumingMemoryBound(to: CChar.self), CInt(count), 0)
            }
            index += count
            if let fault = collector.pointee.fault { throw fault }
            if pendingCount > limits.markupLength + Self.pieceLength {
                throw stop(.tooLarge, "a tag or other markup is longer than \(limits.markupLength) bytes")
            }
        }
        return collector.pointee.takeEvents()
    }

    /// Ends the text.
    /// - Returns: the remaining events.
    public func finish() throws(XMLFault) -> [XMLEvent] {
        if let fault = collector.pointee.fault { throw fault }
        let result = xmlParseChunk(parser, nil, 0, 1)
        if let fault = collector.pointee.fault { throw fault }
        guard result == 0, parser.pointee.wellFormed == 1 else { throw stop(.malformed, "the text ends too early") }
        return collector.pointee.takeEvents()
    }

    /// Bytes that libxml2 buffers until the rest of a tag arrives.
    private var pendingCount: Int {
        guard let input = parser.pointee.input, let next = input.pointee.cur, let end = input.pointee.end else { return 0 }
        return end - next
    }

    private func stop(_ reason: XMLFault.Reason, _ detail: String) -> XMLFault {
        collector.pointee.stop(reason, detail)
        return collector.pointee.fault ?? XMLFault(reason: reason, line: 0, column: 0, detail: detail)
    }
}
