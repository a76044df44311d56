internal import CLarderXML2

/// Collects the data of libxml2's callbacks. Used only by the reader that owns it.
struct XMLCollector {
    private let limits: XMLLimits
    var parser: xmlParserCtxtPtr?
    private(set) var fault: XMLFault?
    private var events: [XMLEvent] = []
    private var text: [UInt8] = []
    private var depth = 0
    /// The string for each name, created once and shared. libxml2 stores each name once, so the name's address identifies it.
    private var names: [UnsafePointer<xmlChar>: String] = [:]

    init(limits: XMLLimits) { self.limits = limits }

    mutating func takeEvents() -> [XMLEvent] {
        defer { events.removeAll() }
        return events
    }

    /// Only the first fault is kept.
    mutating func stop(_ reason: XMLFault.Reason, _ detail: String, line: Int? = nil, column: Int? = nil) {
        guard fault == nil, let parser else { return }
        let input = parser.pointee.input
        fault = XMLFault(
            reason: reason, line: line ?? input.map { Int($0.pointee.line) } ?? 0,
            column: column ?? input.map { Int($0.pointee.col) } ?? 0, detail: detail)
        xmlStopParser(parser)
    }

    // MARK: Callbacks

    private mutating func endText() {
        if text.isEmpty { return }
        events.append(.text(String(decoding: text, as: UTF8.self)))
        text.removeAll(keepingCapacity: true)
    }

    private mutating func append(_ characters: UnsafePointer<xmlChar>?, _ count: CInt) {
        text.append(contentsOf: UnsafeBufferPointer(start: characters, count: Int(count)))
    }

    private mutating func start(_ name: XMLName, _ attributes: [XMLAttribute]) {
        endText()
        depth += 1
        if depth > limits.depth { return stop(.tooDeep, "elements are nested more than \(limits.depth) levels deep") }
        if attributes.count > limits.attributeCount {
            return stop(.tooLarge, "an element has more than \(limits.attributeCount) attributes")
        }
        events.append(.start(name, attributes: attributes))
    }

    private mutating func end(_ name: XMLName) {
        endText()
        depth -= 1
        events.append(.end(name))
    }

    private mutating func note(_ event: XMLEvent) {
        endText()
        events.append(event)
    }

    private mutating func shared(_ name: UnsafePointer<xmlChar>?) -> String? {
        guard let name else { return nil }
        if let known = names[name] { return known }
        let made = String(cString: name)
        names[name] = made
        return made
    }

    private mutating func name(
        _ local: UnsafePointer<xmlChar>?, _ prefix: UnsafePointer<xmlChar>?, _ namespace: UnsafePointer<xmlChar>?
    ) -> XMLName {
        XMLName(shared(local) ?? "", prefix: shared(prefix), namespace: shared(namespace))
    }

    /// Five pointers for each attribute: local name, prefix, namespace, beginning and end of the value.
    private mutating func attributes(
        _ parts: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, _ count: CInt
    ) -> [XMLAttribute] {
        guard let parts, count > 0 else { return [] }
        return (0..<Int(count)).map { place in
            let part = parts + place * 5
            var value = ""
            if let begin = part[3], let end = part[4] {
                value = String(decoding: UnsafeBufferPointer(start: begin, count: end - begin), as: UTF8.self)
            }
            return XMLAttribute(name: name(part[0], part[1], part[2]), value: value)
        }
    }

    private mutating func notice(_ error: xmlErrorPtr?) {
        guard let error, error.pointee.level.rawValue >= XML_ERR_ERROR.rawValue else { return }
        let message = error.pointee.message.map { String(cString: $0) } ?? "no XML"
        let code = UInt32(bitPattern: error.pointee.code)
        let isEntity = code == XML_ERR_UNDECLARED_ENTITY.rawValue || code == XML_WAR_UNDECLARED_ENTITY.rawValue
        stop(
            isEntity ? .entity : .malformed, String(message.prefix { $0 != "\n" }.prefix(200)), line: Int(error.pointee.line),
            column: Int(error.pointee.int2))
    }

    /// The callbacks for libxml2. Callbacks that are not set do nothing: no external subset is loaded, and only the predefined
    /// entities are known.
    static var handler: xmlSAXHandler {
        var handler = xmlSAXHandler()
        handler.initialized = XML_SAX2_MAGIC
        handler.startElementNs = { context, local, prefix, namespace, _, _, count, _, parts in
            let collector = owner(of: context)
            let name = collector.pointee.name(local, prefix, namespace)
            let attributes = collector.pointee.attributes(parts, count)
            collector.pointee.start(name, attributes)
        }
        handler.endElementNs = { context, local, prefix, namespace in
            let collector = owner(of: context)
            let name = collector.pointee.name(local, prefix, namespace)
            collector.pointee.end(name)
        }
        handler.characters = { context, characters, count in owner(of: context).pointee.append(characters, count) }
        handler.ignorableWhitespace = handler.characters
        handler.cdataBlock = handler.characters
        handler.comment = { context, text in
            owner(of: context).pointee.note(.comment(text.map { String(cString: $0) } ?? ""))
        }
        handler.processingInstruction = { context, target, data in
            owner(of: context).pointee.note(
                .processingInstruction(
                    target: target.map { String(cString: $0) } ?? "", data: data.map { String(cString: $0) } ?? ""))
        }
        handler.entityDecl = { context, name, _, _, _, _ in
            owner(of: context).pointee.stop(.declaration, refusal("the entity", name))
        }
        handler.unparsedEntityDecl = { context, name, _, _, _ in
            owner(of: context).pointee.stop(.declaration, refusal("the entity", name))
        }
        handler.attributeDecl = { context, _, name, _, _, _, values in
            // The callback must free the list of allowed values.
            xmlFreeEnumeration(values)
            owner(of: context).pointee.stop(.declaration, refusal("the attribute", name))
        }
        handler.reference = { context, name in
            owner(of: context).pointee.stop(.entity, "&\(name.map { String(cString: $0) } ?? "");")
        }
        handler.serror = { context, error in owner(of: context).pointee.notice(error) }
        return handler
    }
}

private func refusal(_ kind: String, _ name: UnsafePointer<xmlChar>?) -> String {
    "\(kind) \(name.map { String(cString: $0) } ?? "") is declared, which is not allowed"
}

/// The collector passed to libxml2 as context. A free function, because the callbacks may not capture anything, not even a type.
private func owner(of context: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<XMLCollector> {
    guard let context else { preconditionFailure("libxml2 gives back what it was given") }
    return context.assumingMemoryBound(to: XMLCollector.self)
}
