import HTTPMessage

/// Selecting among the responses stored under one key by the request fields that they nominate (RFC 9111 §4.1).
///
/// With a stored response stands the canonical form of the nominated fields of the request that brought it: for each name,
/// in lower case, sorted and without repetition, `name:` and either `-` (absent) or `=` and the value, then a line feed.
/// Values are normalised as far as the section allows for any field: lines of one name are combined with a comma, and blanks
/// around the value go. Around the commas of the few fields known to be lists they go too.
package enum Vary {
    /// More nominated names, or a longer canonical form, are not stored.
    package static let nameLimit = 32
    package static let canonicalFormLimit = 16 * 1024

    // MARK: Selecting

    /// The place of the first response, newest first, whose nominated fields match the request; `nil` without one.
    package static func select(among responses: [StoredResponse], for request: RequestHead) -> Int? {
        for index in 0..<responses.count where matches(responses[index].nominatedFields, request.fields) {
            return index
        }
        return nil
    }

    /// Whether the request's fields have the values that the canonical form tells. A form that is damaged never matches.
    package static func matches(_ canonicalForm: [UInt8], _ fields: Fields) -> Bool {
        var index = 0
        while index < canonicalForm.count {
            let nameStart = index
            while index < canonicalForm.count, canonicalForm[index] != ASCII.colon { index += 1 }
            guard index + 1 < canonicalForm.count else { return false }
            let name = canonicalForm.span.extracting(nameStart..<index)
            var comparison = CanonicalValueComparison(expected: canonicalForm, index: index + 1)
            guard writeCanonicalValue(of: name, in: fields, to: &comparison), comparison.put(ASCII.lf) else { return false }
            index = comparison.index
        }
        return true
    }

    // MARK: Nominating

    enum Check { case valid, any, invalid }

    /// Whether the response's Vary can be stored; allocates nothing.
    static func check(_ fields: Fields) -> Check {
        var count = 0
        var index = fields.index(of: .vary)
        while let found = index {
            let value = fields.value(of: fields.lines[found])
            var elements = ListElements()
            while let name = elements.next(in: value) {
                if value.extracting(name).equals("*") { return .any }
                for index in name where !ASCII.isTokenCharacter(value[index]) { return .invalid }
                count += 1
            }
            index = fields.index(of: .vary, from: found + 1)
        }
        return count <= nameLimit ? .valid : .invalid
    }

    enum Nomination: Equatable {
        /// The canonical form; empty where the response does not vary.
        case fields([UInt8])
        /// A `*` is among the names: no later request can be known to match.
        case any
        /// Not a list of field names, or more than the limits allow.
        case invalid
    }

    /// What the response nominates, with the values that the request has.
    ///
    /// A response without Vary beside siblings that have it is taken to vary as the most recent of these does (§4.1,
    /// "mistakenly omit the Vary header field").
    /// - Parameter siblings: the responses stored under the same key, newest first.
    static func nominate(
        for response: ResponseHead, request: RequestHead, siblings: [StoredResponse] = []
    ) -> Nomination {
        if response.fields.contains(.vary) { return nominate(response.fields, request: request) }
        guard let sibling = siblings.first(where: { $0.head.fields.contains(.vary) }) else { return .fields([]) }
        return nominate(sibling.head.fields, request: request)
    }

    private static func nominate(_ responseFields: Fields, request: RequestHead) -> Nomination {
        var names: [[UInt8]] = []
        var index = responseFields.index(of: .vary)
        while let found = index {
            let value = responseFields.value(of: responseFields.lines[found])
            var elements = ListElements()
            while let element = elements.next(in: value) {
                let name = value.extracting(element)
                if name.equals("*") { return .any }
                guard let name = lowercasedToken(name), names.count < nameLimit else { return .invalid }
                if !names.contains(name) { names.append(name) }
            }
            index = responseFields.index(of: .vary, from: found + 1)
        }
        names.sort { $0.lexicographicallyPrecedes($1) }
        var form: [UInt8] = []
        for name in names {
            form.append(contentsOf: name)
            form.append(ASCII.colon)
            _ = writeCanonicalValue(of: name.span, in: request.fields, to: &form)
            form.append(ASCII.lf)
        }
        return form.count <= canonicalFormLimit ? .fields(form) : .invalid
    }

    private static func lowercasedToken(_ name: Span<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        for index in 0..<name.count {
            guard ASCII.isTokenCharacter(name[index]) else { return nil }
            result.append(ASCII.lowercased(name[index]))
        }
        return result
    }

    // MARK: The canonical value

    /// Puts the canonical value of a field out octet by octet, until the sink has had enough. No allocation of its own.
    private static func writeCanonicalValue(
        of name: Span<UInt8>, in fields: Fields, to sink: inout some CanonicalValueSink
    ) -> Bool {
        let known = KnownField(name)
        var index = next(known, name, in: fields, from: 0)
        guard index != nil else { return sink.put(0x2D) }
        guard sink.put(ASCII.equals) else { return false }
        let isList = isKnownList(known)
        var isFirst = true
        while let found = index {
            let value = fields.value(of: fields.lines[found])
            let bounds = value.trimmedBounds(in: 0..<value.count)
            if !isFirst, !sink.put(ASCII.comma) || (!isList && !sink.put(ASCII.space)) { return false }
            isFirst = false
            guard write(value.extracting(bounds), isList: isList, to: &sink) else { return false }
            index = next(known, name, in: fields, from: found + 1)
        }
        return true
    }

    private static func write(_ value: Span<UInt8>, isList: Bool, to sink: inout some CanonicalValueSink) -> Bool {
        var isQuoted = false
        var index = 0
        while index < value.count {
            let byte = value[index]
            if byte == ASCII.quote { isQuoted.toggle() }
            let isBesideComma = isList && !isQuoted && ASCII.isBlank(byte) && blankRunTouchesComma(value, at: index)
            guard isBesideComma || sink.put(byte) else { return false }
            index += 1
        }
        return true
    }

    private static func blankRunTouchesComma(_ value: Span<UInt8>, at index: Int) -> Bool {
        var before = index
        while before >= 0, ASCII.isBlank(value[before]) { before -= 1 }
        var after = index
        while after < value.count, ASCII.isBlank(value[after]) { after += 1 }
        return before >= 0 && value[before] == ASCII.comma || after < value.count && value[after] == ASCII.comma
    }

    private static func isKnownList(_ field: KnownField) -> Bool {
        switch field {
        case .accept, .acceptEncoding, .acceptLanguage, .cacheControl: true
        default: false
        }
    }

    private static func next(_ known: KnownField, _ name: Span<UInt8>, in fields: Fields, from start: Int) -> Int? {
        known == .other ? fields.index(ofName: name, from: start) : fields.index(of: known, from: start)
    }
}

/// Where the octets of a canonical value go: into a new form, or against a stored one.
protocol CanonicalValueSink {
    /// `false` ends the writing.
    mutating func put(_ byte: UInt8) -> Bool
}

extension Array<UInt8>: CanonicalValueSink {
    mutating func put(_ byte: UInt8) -> Bool {
        append(byte)
        return true
    }
}

/// Compares octet by octet with a stored canonical form, so that matching allocates nothing.
struct CanonicalValueComparison: CanonicalValueSink {
    let expected: [UInt8]
    private(set) var index: Int

    init(expected: [UInt8], index: Int) {
        self.expected = expected
        self.index = index
    }

    mutating func put(_ byte: UInt8) -> Bool {
        guard index < expected.count, expected[index] == byte else { return false }
        index += 1
        return true
    }
}
