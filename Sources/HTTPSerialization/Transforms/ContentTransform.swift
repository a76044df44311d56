import HTTPMessage

/// A transform of a body's decoded content. Created when the head is known; the work runs off the event loop.
///
/// The same body yields the same bytes each time and on every machine: the entity tag of the result depends on that.
package struct ContentTransform: Sendable {
    package enum Work: Sendable {
        /// Convert content of this form to JSON, with these edits.
        case json(from: Form, JSONEdits)
        /// Convert text to another charset; a `from` charset has precedence over the head.
        case text(from: Charset?, to: Charset)
    }

    package enum Form: Sendable { case json, xml, propertyList }

    /// Limits on the work (threat T35 in docs/threats.md).
    package struct Limits: Sendable {
        /// The maximum length in bytes, for the body as received and for the output of each coding.
        package var bodyLength: UInt64 = 8 << 20
        package var outputLength: UInt64 = 16 << 20
        /// Maximum nesting of values or elements.
        package var depth = 512

        package init() {}
    }

    private let work: Work
    private let limits: Limits
    private let codings: ContentCodings
    private let head: ReceivedHead

    package init(_ work: Work, of head: borrowing ResponseHead, limits: Limits = Limits()) {
        self.work = work
        self.limits = limits
        codings = ContentCodings(of: head.fields)
        self.head = ReceivedHead(head, to: .get)
    }

    /// The transformed content. Empty content stays unchanged, and so does a single space if the result should be JSON
    /// (feature V6 in docs/threats.md).
    /// - Parameter isOverdue: called from time to time; if it returns `true`, the work ends with `timedOut`.
    package func content(of body: [UInt8], isOverdue: @escaping () -> Bool = { false }) throws(TransformFault) -> [UInt8] {
        if isOverdue() { throw .timedOut }
        let content = try decoded(body, isOverdue)
        if content.isEmpty { return content }
        let made: [UInt8]
        switch work {
        case .json where content == [ASCII.space]: made = content
        case .json(from: .json, let edits) where edits.removals.isEmpty && edits.settings.isEmpty:
            made = try withoutNulls(content, edits.nulls, isOverdue)
        case .json(let form, let edits):
            var value = try value(of: content, form, edits.nulls, isOverdue)
            if isOverdue() { throw .timedOut }
            guard edits.apply(to: &value) else { throw .noPlace }
            made = value.text()
        case .text(let from, let to): made = try reencoded(content, from, to)
        }
        if UInt64(made.count) > limits.outputLength { throw .outputTooLarge }
        if isOverdue() { throw .timedOut }
        return made
    }

    private func decoded(_ body: [UInt8], _ isOverdue: () -> Bool) throws(TransformFault) -> [UInt8] {
        guard case .known(let known) = codings else { throw .unsupportedCoding }
        if UInt64(body.count) > limits.bodyLength { throw .bodyTooLarge }
        if known.isEmpty { return body }
        let chain = CodingChain(known, limits: CodingLimits(length: limits.bodyLength))
        var content: [UInt8] = []
        func take(_ piece: Span<UInt8>) throws(TransformFault) {
            if isOverdue() { throw .timedOut }
            content.append(piece)
        }
        try chain.decode(
            body.span, failing: { $0 == .tooLarge ? TransformFault.bodyTooLarge : TransformFault.malformedCoding }, take: take)
        guard chain.permitsEnd else { throw .malformedCoding }
        return content
    }

    // MARK: JSON

    private func value(
        of content: [UInt8], _ form: Form, _ nulls: NullRemoval, _ isOverdue: @escaping () -> Bool
    ) throws(TransformFault) -> JSONValue {
        switch form {
        case .json: return try json(content, nulls, isOverdue)
        case .xml: return try xml(content, isOverdue).json.removingNulls(nulls)
        case .propertyList:
            let list = try propertyList(content)
            // A binary property list may refer to a long string many times.
            guard list.jsonLengthIsAtMost(limits.outputLength) else { throw .outputTooLarge }
            return list.json.removingNulls(nulls)
        }
    }

    private func json(
        _ content: [UInt8], _ nulls: NullRemoval, _ isOverdue: @escaping () -> Bool
    ) throws(TransformFault) -> JSONValue {
        try reading { () throws(JSONParseError) in
            try JSONParser.parse(content, options: options(removing: nulls, valueLimit: Self.valueLimit), isOverdue: isOverdue)
        }
    }

    /// Removes nulls without building a JSON value, so that only the output takes memory.
    private func withoutNulls(
        _ content: [UInt8], _ nulls: NullRemoval, _ isOverdue: @escaping () -> Bool
    ) throws(TransformFault) -> [UInt8] {
        try reading { () throws(JSONParseError) in
            try JSONStripper.strip(content, options: options(removing: nulls, valueLimit: .max), isOverdue: isOverdue)
        }
    }

    /// A value takes up to 40 bytes in addition to its text.
    private static let valueLimit = 4_000_000

    private func options(removing nulls: NullRemoval, valueLimit: Int) -> JSONParseOptions {
        JSONParseOptions(
            removesNulls: nulls, depthLimit: min(limits.depth, JSONParseOptions.greatestDepthLimit),
            lengthLimit: Int(clamping: limits.bodyLength), valueLimit: valueLimit)
    }

    private func reading<Made>(_ read: () throws(JSONParseError) -> Made?) throws(TransformFault) -> Made {
        do throws(JSONParseError) {
            if let made = try read() { return made }
        } catch {
            switch error.reason {
            case .tooDeep: throw .tooDeep
            case .tooLarge, .tooManyValues: throw .bodyTooLarge
            case .unexpectedByte, .unexpectedEnd, .notUTF8, .halfPair, .repeatedName: throw .malformedJSON
            }
        }
        throw .timedOut
    }

    private func xml(_ content: [UInt8], _ isOverdue: () -> Bool) throws(TransformFault) -> XMLTree {
        // Converted to UTF-8, a text in a single-byte charset can become three times as long.
        let length = 3 * Int(clamping: min(limits.bodyLength, 1 << 40))
        do throws(XMLFault) {
            guard let text = XMLText(content, of: head) else {
                throw XMLFault(reason: .malformed, line: 0, column: 0, detail: "the text is invalid in its charset")
            }
            let limits = XMLLimits(length: length, depth: min(limits.depth, 250))
            if let tree = try XMLTree.tree(parsing: text.octets, limits: limits, isUTF8: text.isUTF8, isOverdue: isOverdue) {
                return tree
            }
        } catch {
            throw error.reason == .tooDeep ? .tooDeep : error.reason == .tooLarge ? .bodyTooLarge : .malformedXML
        }
        throw .timedOut
    }

    private func propertyList(_ content: [UInt8]) throws(TransformFault) -> PropertyListValue {
        let limits = PropertyListLimits(length: Int(clamping: limits.bodyLength), depth: min(limits.depth, 200))
        do throws(PropertyListFault) {
            return try PropertyListValue(parsing: content, limits: limits)
        } catch {
            switch error.reason {
            case .tooDeep: throw .tooDeep
            case .tooLarge: throw .bodyTooLarge
            case .malformed, .inexpressible: throw .malformedPropertyList
            }
        }
    }

    // MARK: Text

    /// A byte order mark has precedence over the rule's charset, which has precedence over the charset in the head.
    private func reencoded(_ content: [UInt8], _ from: Charset?, _ to: Charset) throws(TransformFault) -> [UInt8] {
        let declared = head.parameter("charset")
        if let declared, from == nil, Charset(declared) == nil { throw .unknownCharset }
        let charset = Charset.ofMark(in: content) ?? from ?? declared.flatMap { Charset($0) } ?? .utf8
        let text: String
        do throws(TextFault) {
            text = try charset.text(of: content)
        } catch {
            throw .malformedText
        }
        guard let octets = to.octets(of: text) else { throw .unencodable }
        return octets
    }
}
