import HTTPCaching
import HTTPMessage

extension FuzzTarget {
    /// The value of a field that decides about caching, and the forms in which the store keeps such decisions: nothing traps,
    /// what is understood is written and read the same, and no value of a peer's leads past what another field forbids.
    ///
    /// The first byte chooses the field, `0` to `7`.
    package static let fieldValues = FuzzTarget("FieldValues") { octets in
        guard let choice = octets.first else { return nil }
        let rest = Array(octets.dropFirst())
        let value = rest.filter(ASCII.isFieldValueCharacter)
        switch choice & 7 {
        case 0: return FieldValueFaults.ofDate(value)
        case 1: return FieldValueFaults.ofEntityTag(value)
        case 2: return FieldValueFaults.ofRanges(value)
        case 3: return FieldValueFaults.ofStorage(value)
        case 4: return FieldValueFaults.ofReuse(value)
        case 5: return FieldValueFaults.ofVary(value)
        case 6: return FieldValueFaults.ofInvalidation(value)
        default: return FieldValueFaults.ofStoredForms(rest)
        }
    }
}

/// What is wrong with the way in which one value was taken, or `nil`.
enum FieldValueFaults {
    private static let now = Timestamp(seconds: 1_717_200_000)
    private static let lengths: [UInt64] = [0, 1, 10, 1 << 40, .max]

    // MARK: Dates, tags and ranges

    static func ofDate(_ value: [UInt8]) -> String? {
        guard let time = HTTPDate.parse(value.span, now: now) else { return nil }
        var written: [UInt8] = []
        HTTPDate.write(time, into: &written)
        if HTTPDate.parse(written.span, now: now) != time { return "a date written is another" }
        return HTTPDate.parse(uppercased(value).span, now: now) == time ? nil : "a date in capitals is another"
    }

    static func ofEntityTag(_ value: [UInt8]) -> String? {
        guard EntityTag(value.span) != nil else { return nil }
        if !EntityTag.matchesWeakly(value.span, value.span) { return "a tag that does not match itself" }
        let list = Array(#"W/"other" , "#.utf8) + value + Array(", ".utf8)
        let isFound = EntityTag.findWeakly(value.span, inList: list.span) == .matches
        return isFound ? nil : "a tag that is not found in a list of it"
    }

    static func ofRanges(_ value: [UInt8]) -> String? {
        if let ranges = ByteRangeSet(value.span) {
            for length in lengths {
                for index in 0..<ranges.count {
                    guard let range = ranges[index].resolved(inLength: length) else { continue }
                    if range.isEmpty != (length == 0) || range.upperBound > length { return "a range outside the content" }
                }
            }
        }
        guard let range = ContentRange(value.span) else { return nil }
        var written: [UInt8] = []
        range.write(into: &written)
        return ContentRange(written.span) == range ? nil : "a Content-Range written is another"
    }

    // MARK: Storing and reusing

    static func ofStorage(_ value: [UInt8]) -> String? {
        let request = requestHead(.other, [])
        for field in [KnownField.cacheControl, .expires, .age, .date, .lastModified, .etag] {
            let response = responseHead(field, value, also: field == .cacheControl ? "X-Own" : "Cache-Control", "max-age=60")
            guard case .store(let facts, _) = decide(request, response) else { continue }
            if let fault = ofFacts(facts) { return fault }
        }
        let forbidden = responseHead(.cacheControl, Array("private, ".utf8) + value, also: "ETag", #""x""#)
        if case .store = decide(request, forbidden) { return "a directive behind private made it storable" }
        let upper = decide(request, responseHead(.cacheControl, uppercased(value), also: "ETag", #""x""#))
        let same = decide(request, responseHead(.cacheControl, value, also: "ETag", #""x""#))
        return upper == same ? nil : "directives depend on their case"
    }

    private static func ofFacts(_ facts: ReuseFacts) -> String? {
        var encoded: [UInt8] = []
        facts.encode(into: &encoded)
        if encoded.count != ReuseFacts.encodedCount || ReuseFacts(decoding: encoded.span) != facts {
            return "facts read as others"
        }
        let directives = RequestDirectives(requestHead(.other, []))
        for policy in CachePolicy.allCases {
            for seconds in [0, 59, 60, 1 << 40] as [Int64] {
                let overrides = CacheOverrides(policy: policy)
                let decision = Reuse.decide(facts, for: directives, overrides: overrides, at: now.advanced(seconds: seconds))
                switch decision {
                case .fresh(let terms) where terms.remaining < 0 || facts.flags.contains(.noCache): return "fresh and stale"
                case .staleAllowed where facts.prohibitsStaleUse: return "stale against the origin's word"
                case .fresh(let terms) where terms.usedUnsafe: return "unsafe without an unsafe rule"
                default: break
                }
            }
        }
        return nil
    }

    static func ofReuse(_ value: [UInt8]) -> String? {
        let plain = RequestDirectives(requestHead(.cacheControl, value))
        let padded = RequestDirectives(requestHead(.cacheControl, Array(",, ".utf8) + value))
        if plain != padded { return "empty elements change the directives" }
        if RequestDirectives(requestHead(.cacheControl, uppercased(value))) != plain { return "directives depend on their case" }
        _ = RequestDirectives(requestHead(.pragma, value))
        let response = responseHead(.etag, value, also: "Cache-Control", "max-age=60")
        guard let stored = stored(requestHead(.other, []), response) else { return "a tag kept a response from being stored" }
        for field in [KnownField.ifNoneMatch, .ifModifiedSince] {
            let request = requestHead(field, value)
            let directives = RequestDirectives(request)
            _ = Validation.evaluate(request, directives: directives, against: stored)
        }
        return nil
    }

    // MARK: Selecting and invalidating

    /// The value as Vary, and as what Vary nominates.
    static func ofVary(_ value: [UInt8]) -> String? {
        let nominating = responseHead(.vary, value, also: "Cache-Control", "max-age=60")
        for field in [KnownField.accept, .other, .cookie] {
            let request = requestHead(field, value)
            let varying = responseHead(.vary, Array("Accept, X-Own, Cookie".utf8), also: "Cache-Control", "max-age=60")
            for response in [nominating, varying] {
                guard let stored = stored(request, response) else { continue }
                if Vary.select(among: [stored], for: request) != 0 { return "a request that does not match itself" }
            }
            guard let stored = stored(request, varying) else { continue }
            if Vary.select(among: [stored], for: requestHead(field, value + Array("x".utf8))) != nil {
                return "another value matches"
            }
        }
        return nil
    }

    /// Only keys of the target's own origin are invalidated.
    static func ofInvalidation(_ value: [UInt8]) -> String? {
        let request = requestHead(.other, [], method: .post)
        let keys = Invalidation.keys(request: request, response: responseHead(.location, value, also: "X-Own", ""))
        return keys.allSatisfy { $0.starts(with: Array("http://example.com:80/".utf8)) } ? nil : "a key of another origin"
    }

    /// What the store reads back, whatever it has become.
    static func ofStoredForms(_ octets: [UInt8]) -> String? {
        _ = Vary.matches(octets, requestHead(.accept, Array("a".utf8)).fields)
        if let facts = ReuseFacts(decoding: octets.span), let fault = ofFacts(facts) { return fault }
        guard let head = StoredHead.decode(octets.span) else { return nil }
        var encoded: [UInt8] = []
        StoredHead.encode(head, into: &encoded)
        return encoded == octets ? nil : "a head read and written is another"
    }

    // MARK: Heads

    private static func decide(_ request: RequestHead, _ response: ResponseHead) -> StorageDecision {
        Storability.decide(request: request, response: response, overrides: .none, requestTime: now, responseTime: now)
    }

    private static func stored(_ request: RequestHead, _ response: ResponseHead) -> StoredResponse? {
        guard case .store(let facts, _) = decide(request, response),
            let prepared = StoredFields.prepare(response, to: request, facts: facts)
        else { return nil }
        return StoredResponse(
            key: CacheKey(of: request).bytes, nominatedFields: prepared.nominatedFields, facts: facts, head: prepared.head,
            requestTime: now, body: .bytes(Array(repeating: 0, count: 10)))
    }

    private static let target: StaticString = "http://example.com/dir/a"

    /// `.other` stands for `X-Own`.
    private static func requestHead(_ field: KnownField, _ value: [UInt8], method: Method = .get) -> RequestHead {
        var head = RequestHead()
        head.method = method
        // The target stands where a parser would leave it: before the fields.
        head.fields.append(target, value.span.extracting(0..<0))
        head.fields.remove { _, _ in true }
        head.rawTarget = Extent(offset: 0, count: target.utf8CodeUnitCount)
        head.target.form = .absolute
        head.target.host = Extent(offset: 7, count: 11)
        head.target.path = Extent(offset: 18, count: 6)
        append(field, value, to: &head.fields)
        return head
    }

    private static func responseHead(
        _ field: KnownField, _ value: [UInt8], also name: StaticString, _ other: StaticString
    ) -> ResponseHead {
        var head = ResponseHead()
        append(field, value, to: &head.fields)
        head.fields.append(name, other)
        return head
    }

    /// As a parser gives it: without the blanks around it.
    private static func append(_ field: KnownField, _ value: [UInt8], to fields: inout Fields) {
        let name: StaticString = field == .other ? "X-Own" : field.lowercaseName
        fields.append(name, value.span.extracting(value.span.trimmedBounds(in: 0..<value.count)))
    }

    private static func uppercased(_ value: [UInt8]) -> [UInt8] {
        value.map { ASCII.isAlpha($0) && !ASCII.isUppercase($0) ? $0 & 0xDF : $0 }
    }
}
