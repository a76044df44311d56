import HTTPMessage

/// Selects among the responses stored under one key by the request fields that they nominate (RFC 9111 §4.1).
///
/// Each stored response has the canonical form of the nominated fields of the request that fetched it. For each name, in lower case, sorted
/// and without duplicates, the form has the name's length (1 byte), the name, the value's length (2 bytes, little endian; 65,535 if the
/// field is absent), and the value.
///
/// Values are normalized to the extent that RFC 9111 §4.1 allows for any field: lines of one name are combined with a comma and a space,
/// and blanks around the value are removed. For a few fields known to be lists, each comma is followed by exactly one space. Content
/// codings and language tags, which compare case-insensitively (RFC 9110 §8.4.1, RFC 4647 §2), are in lower case. The form includes what
/// rules add to the key (`SecondaryKey`).
public enum Vary {
    /// A response with more nominated names, or a longer canonical form, is not stored.
    package static let nameLimit = 32
    package static let canonicalFormLimit = 16 * 1024
    /// The maximum number of variants of one key, unless a rule sets another.
    package static let variantLimit = 32
    private static let nameCountLimit = 255
    static let absent = 65_535

    // MARK: Selecting

    /// The index of the response to use; `nil` if the nominated fields of no response match the request. If several match, it is the
    /// newest with Vary, or else the newest: §4.1 says that a default response that omits Vary does not displace more preferable ones.
    /// - Parameter responses: the responses stored under the same key, newest first.
    package static func select(
        among responses: [StoredResponse], for request: RequestHead, _ secondary: SecondaryKey = .none
    ) -> Int? {
        guard responses.count > 1 else {
            guard responses.count == 1 else { return nil }
            return matches(responses[0].nominatedFields, request.fields, secondary) ? 0 : nil
        }
        let nominating = responses[placeOfNominating(responses)].nominatedFields
        guard let requested = RequestedVariant(nominatedBy: nominating.span, request.fields, secondary) else {
            return selectOneByOne(among: responses, request.fields, secondary)
        }
        let all = responses.span
        var withoutVary: Int?
        for index in 0..<all.count where all[index].isSelected(by: requested, request.fields, secondary) {
            if all[index].facts.flags.contains(.varies) { return index }
            if withoutVary == nil { withoutVary = index }
        }
        return withoutVary
    }

    /// The index of the newest response with Vary. Most other responses nominate the same fields.
    private static func placeOfNominating(_ responses: [StoredResponse]) -> Int {
        let all = responses.span
        for index in 0..<all.count where all[index].facts.flags.contains(.varies) { return index }
        return 0
    }

    /// Compares the request with each form, field by field.
    private static func selectOneByOne(among responses: [StoredResponse], _ fields: Fields, _ secondary: SecondaryKey) -> Int? {
        var withoutVary: Int?
        for index in 0..<responses.count where matches(responses[index].nominatedFields, fields, secondary) {
            if responses[index].facts.flags.contains(.varies) { return index }
            if withoutVary == nil { withoutVary = index }
        }
        return withoutVary
    }

    /// Whether the request's fields have the values in the canonical form, and the form has everything that the secondary key requires.
    /// A damaged form never matches.
    package static func matches(_ canonicalForm: [UInt8], _ fields: Fields, _ secondary: SecondaryKey = .none) -> Bool {
        if canonicalForm.isEmpty { return secondary.isEmpty }
        var missingCount = secondary.count
        let form = canonicalForm.span
        var index = 0
        while index < form.count {
            let nameStart = index + 1
            let nameEnd = nameStart + Int(form[index])
            guard form.count - nameEnd >= 2 else { return false }
            let count = Int(form.littleEndian(at: nameEnd) as UInt16)
            let valueStart = nameEnd + 2
            index = count == absent ? valueStart : valueStart + count
            guard index <= form.count else { return false }
            let value = count == absent ? nil : valueStart..<index
            let name = form.extracting(nameStart..<nameEnd)
            if let octets = secondary.octets(under: name) {
                guard let value, form.extracting(value).equals(octets.span) else { return false }
                missingCount -= 1
                continue
            }
            guard matches(value, of: canonicalForm, name, fields) else { return false }
            if secondary.contains(name) { missingCount -= 1 }
        }
        return missingCount == 0
    }

    private static func matches(
        _ expected: Range<Int>?, of canonicalForm: [UInt8], _ name: Span<UInt8>, _ fields: Fields
    ) -> Bool {
        let known = KnownField(name)
        guard let first = next(known, name, in: fields, from: 0) else { return expected == nil }
        guard let expected else { return false }
        // In most cases the request has one line of the field, with exactly the stored bytes.
        let value = fields.value(of: fields.lines[first])
        let isSameLine =
            isFolded(known)
            ? value.equalsIgnoringCase(canonicalForm.span.extracting(expected))
            : value.equals(canonicalForm.span.extracting(expected))
        if isSameLine, next(known, name, in: fields, from: first + 1) == nil { return true }
        var comparison = CanonicalValueComparison(expected: canonicalForm, range: expected)
        return writeCanonicalValue(of: name, known, in: fields, from: first, to: &comparison) && comparison.isComplete
    }

    // MARK: Nominating

    enum Check { case valid, any, invalid }

    /// Whether the response's Vary can be stored for this request; does not allocate.
    static func check(_ fields: Fields, request: Fields, _ secondary: SecondaryKey = .none) -> Check {
        var nameCount = 0
        var formCount = 0
        for name in secondary.fieldNames {
            nameCount += 1
            formCount += name.count + 3 + greatestCount(ofValue: name.span, in: request)
        }
        guard formCount <= canonicalFormLimit else { return .invalid }
        var index = fields.index(of: .vary)
        while let found = index {
            let value = fields.value(of: fields.lines[found])
            var elements = ListElements()
            while let element = elements.next(in: value) {
                let name = value.extracting(element)
                if name.equals("*") { return .any }
                guard name.count <= nameCountLimit, isToken(name), nameCount < nameLimit else { return .invalid }
                nameCount += 1
                formCount += name.count + 3 + greatestCount(ofValue: name, in: request)
                guard formCount <= canonicalFormLimit else { return .invalid }
            }
            index = fields.index(of: .vary, from: found + 1)
        }
        return .valid
    }

    /// The maximum length of the canonical value. In it, each comma of a list may gain a space, and each line a comma and a space.
    private static func greatestCount(ofValue name: Span<UInt8>, in fields: Fields) -> Int {
        let known = KnownField(name)
        var count = 0
        var index = next(known, name, in: fields, from: 0)
        while let found = index {
            count += 2 + Int(fields.lines[found].value.count) * (isKnownList(known) ? 2 : 1)
            index = next(known, name, in: fields, from: found + 1)
        }
        return count
    }

    private static func isToken(_ name: Span<UInt8>) -> Bool {
        for index in 0..<name.count where !ASCII.isTokenCharacter(name[index]) { return false }
        return true
    }

    /// The canonical form of the request fields that the response nominates; empty if it does not vary, and `nil` unless `check` gives
    /// `.valid`.
    package static func nominatedFields(
        for response: ResponseHead, request: RequestHead, _ secondary: SecondaryKey = .none
    ) -> [UInt8]? {
        let (responseFields, fields) = (response.fields, request.fields)
        guard check(responseFields, request: fields, secondary) == .valid else { return nil }
        var names = secondary.fieldNames
        var index = responseFields.index(of: .vary)
        while let found = index {
            let value = responseFields.value(of: responseFields.lines[found])
            var elements = ListElements()
            while let element = elements.next(in: value) {
                let name = element.map { ASCII.lowercased(value[$0]) }
                if !names.contains(name) { names.append(name) }
            }
            index = responseFields.index(of: .vary, from: found + 1)
        }
        names.sort { $0.lexicographicallyPrecedes($1) }
        var form: [UInt8] = []
        if let digest = secondary.contentDigest { append(digest, under: SecondaryKey.digestName, to: &form) }
        if let rules = secondary.rules { append(rules, under: SecondaryKey.rulesName, to: &form) }
        for name in names { append(name, of: fields, to: &form) }
        return form
    }

    private static func append(_ octets: [UInt8], under name: StaticString, to form: inout [UInt8]) {
        form.append(UInt8(name.utf8CodeUnitCount))
        form.append(name)
        form.append(littleEndian: UInt16(octets.count))
        form.append(contentsOf: octets)
    }

    private static func append(_ name: [UInt8], of fields: Fields, to form: inout [UInt8]) {
        form.append(UInt8(name.count))
        form.append(contentsOf: name)
        let known = KnownField(name.span)
        guard let first = next(known, name.span, in: fields, from: 0) else {
            form.append(littleEndian: UInt16(absent))
            return
        }
        var value: [UInt8] = []
        _ = writeCanonicalValue(of: name.span, known, in: fields, from: first, to: &value)
        form.append(littleEndian: UInt16(value.count))
        form.append(contentsOf: value)
    }

    // MARK: The canonical value

    /// Writes the canonical value of a field byte by byte, until the sink stops it. Does not allocate.
    static func writeCanonicalValue(
        of name: Span<UInt8>, _ known: KnownField, in fields: Fields, from first: Int,
        to sink: inout some CanonicalValueSink & ~Copyable
    ) -> Bool {
        let isList = isKnownList(known)
        var index: Int? = first
        while let found = index {
            if found != first, !(sink.put(ASCII.comma) && sink.put(ASCII.space)) { return false }
            let value = fields.value(of: fields.lines[found])
            let bounds = value.trimmedBounds(in: 0..<value.count)
            guard write(value.extracting(bounds), isList: isList, isFolded: isFolded(known), to: &sink) else { return false }
            index = next(known, name, in: fields, from: found + 1)
        }
        return true
    }

    private static func write(
        _ value: Span<UInt8>, isList: Bool, isFolded: Bool, to sink: inout some CanonicalValueSink & ~Copyable
    ) -> Bool {
        var isQuoted = false
        var index = 0
        while index < value.count {
            let byte = value[index]
            // The byte is not a blank, quote, comma or backslash, so it is copied, inside and outside of quotes.
            if byte > ASCII.comma, byte != ASCII.backslash {
                guard sink.put(isFolded ? ASCII.lowercased(byte) : byte) else { return false }
                index += 1
                continue
            }
            if isQuoted, byte == ASCII.backslash, index + 1 < value.count {
                guard sink.put(byte), sink.put(isFolded ? ASCII.lowercased(value[index + 1]) : value[index + 1]) else {
                    return false
                }
                index += 2
                continue
            }
            if byte == ASCII.quote { isQuoted.toggle() }
            let isLoose = isList && !isQuoted
            if isLoose, byte == ASCII.comma {
                guard sink.put(ASCII.comma), sink.put(ASCII.space) else { return false }
                index = endOfBlanks(value, from: index + 1)
                continue
            }
            // A run of blanks is scanned only once, however long it is.
            let end = isLoose ? endOfBlanks(value, from: index) : index
            if end > index, isComma(value, at: end) {
                index = end
                continue
            }
            for place in index..<max(end, index + 1) {
                guard sink.put(isFolded ? ASCII.lowercased(value[place]) : value[place]) else { return false }
            }
            index = max(end, index + 1)
        }
        return true
    }

    private static func endOfBlanks(_ value: Span<UInt8>, from start: Int) -> Int {
        var end = start
        while end < value.count, ASCII.isBlank(value[end]) { end += 1 }
        return end
    }

    private static func isComma(_ value: Span<UInt8>, at index: Int) -> Bool {
        index < value.count && value[index] == ASCII.comma
    }

    private static func isKnownList(_ field: KnownField) -> Bool {
        switch field {
        case .accept, .acceptEncoding, .acceptLanguage, .cacheControl: true
        default: false
        }
    }

    private static func isFolded(_ field: KnownField) -> Bool {
        switch field {
        case .acceptEncoding, .acceptLanguage: true
        default: false
        }
    }

    static func next(_ known: KnownField, _ name: Span<UInt8>, in fields: Fields, from start: Int) -> Int? {
        known == .other ? fields.index(ofName: name, from: start) : fields.index(of: known, from: start)
    }
}

extension StoredResponse {
    /// This is a method of the response, so that the response need not be retained for the call.
    fileprivate func isSelected(by requested: borrowing RequestedVariant, _ fields: Fields, _ secondary: SecondaryKey) -> Bool {
        let form = nominatedFields
        return requested.isThat(of: form.span) ?? Vary.matches(form, fields, secondary)
    }
}

/// Where the bytes of a canonical value go: into a new form, or into a comparison with a stored one.
protocol CanonicalValueSink: ~Copyable {
    /// Returns `false` to stop the writing.
    mutating func put(_ byte: UInt8) -> Bool
}

extension Array<UInt8>: CanonicalValueSink {
    mutating func put(_ byte: UInt8) -> Bool {
        append(byte)
        return true
    }
}

/// Compares byte by byte with a stored value; matching does not allocate.
struct CanonicalValueComparison: CanonicalValueSink {
    private let expected: [UInt8]
    private let end: Int
    private var index: Int

    init(expected: [UInt8], range: Range<Int>) {
        self.expected = expected
        end = range.upperBound
        index = range.lowerBound
    }

    var isComplete: Bool { index == end }

    mutating func put(_ byte: UInt8) -> Bool {
        guard index < end, expected[index] == byte else { return false }
        index += 1
        return true
    }
}
