import HTTPMessage

/// A complete response in the store. It is immutable: freshening makes a new one (RFC 9111 §3, §4.3.4).
package final class StoredResponse: Sendable {
    /// The bytes of its `CacheKey`.
    package let key: [UInt8]
    /// The canonical form of the request fields that the response nominates (`Vary`); empty without Vary.
    package let nominatedFields: [UInt8]
    package let facts: ReuseFacts
    /// Status line and fields as stored: without hop-by-hop fields, Age and the fields excluded by RFC 9111 §3.1; always with Date.
    package let head: ResponseHead
    /// Status line and field lines as sent with a 200: with Content-Length, without Age and the last CRLF.
    package let preparedHead: [UInt8]
    /// The position in `preparedHead` of the field lines for a 304.
    let notModifiedLines: Extent
    /// The position of the entity tag in `head`; empty if the head has no valid tag.
    let entityTag: Extent
    /// The time at which the request that fetched the response was sent.
    package let requestTime: Timestamp
    package let body: StoredBody
    /// The trailer fields, stored separately from the header fields (RFC 9111 §3.1).
    package let trailers: Fields
    /// Tags from rules, for listing and purging.
    package let tags: [String]
    /// The recorded certificate chain of the origin server; `nil` without TLS, or if the chain was too large to keep.
    package let chain: RecordedChain?
    package let row: StoredRowID
    /// The maximum number of variants of the response's key once the response is stored. The number itself is not stored.
    package let variantLimit: Int

    /// - Parameters:
    ///   - nominatedFields: from `StoredFields.prepare`.
    ///   - head: from `StoredFields.prepare`, or decoded from the store.
    package init(
        key: [UInt8], nominatedFields: [UInt8], facts: ReuseFacts, head: ResponseHead, requestTime: Timestamp,
        body: StoredBody, trailers: Fields = Fields(), tags: [String] = [], chain: RecordedChain? = nil, row: StoredRowID = 0,
        variantLimit: Int = Vary.variantLimit
    ) {
        self.key = key
        self.nominatedFields = nominatedFields
        self.facts = facts
        self.head = head
        self.requestTime = requestTime
        self.body = body
        self.trailers = trailers
        self.tags = tags
        self.chain = chain
        self.row = row
        self.variantLimit = variantLimit
        let hasEntityTag = !facts.flags.isDisjoint(with: [.strongETag, .weakETag])
        entityTag = hasEntityTag ? head.fields.first(.etag)?.value ?? .empty : .empty
        var prepared: [UInt8] = []
        // The capacity for separators, the status line, and the length.
        prepared.reserveCapacity(head.fields.bytes.count + 4 * head.fields.count + 64)
        notModifiedLines = StoredFields.writeHead(head, contentLength: body.length, into: &prepared)
        preparedHead = prepared
    }

    /// Whether these bytes equal the valid entity tag of the response.
    func isEntityTag(_ octets: Span<UInt8>) -> Bool {
        if entityTag.isEmpty { return false }
        let bytes = head.fields.bytes
        return octets.isSame(as: bytes.span.extracting(entityTag.range))
    }

    private init(
        _ other: StoredResponse, facts: ReuseFacts, chain: RecordedChain?, body: StoredBody, row: StoredRowID,
        requestTime: Timestamp? = nil
    ) {
        key = other.key
        nominatedFields = other.nominatedFields
        self.facts = facts
        head = other.head
        preparedHead = other.preparedHead
        notModifiedLines = other.notModifiedLines
        entityTag = other.entityTag
        self.requestTime = requestTime ?? other.requestTime
        self.body = body
        trailers = other.trailers
        tags = other.tags
        self.chain = chain
        self.row = row
        variantLimit = other.variantLimit
    }

    package var responseTime: Timestamp { facts.responseTime }

    /// The same response after its body or row has moved within the store. The length of the body must be the same.
    package func placed(body: StoredBody, row: StoredRowID) -> StoredResponse {
        precondition(body.length == self.body.length, "A body that moves keeps its length")
        return StoredResponse(self, facts: facts, chain: chain, body: body, row: row)
    }

    /// The same response with another body.
    package func with(body: StoredBody, trailers: Fields) -> StoredResponse {
        StoredResponse(
            key: key, nominatedFields: nominatedFields, facts: facts, head: head, requestTime: requestTime, body: body,
            trailers: trailers, tags: tags, chain: chain, row: row, variantLimit: variantLimit)
    }

    /// The same response, marked as stale.
    package func madeStale(at now: Timestamp) -> StoredResponse {
        StoredResponse(self, facts: facts.madeStale(at: now), chain: chain, body: body, row: row)
    }

    /// The same response, confirmed by a server whose certificate chain is `chain`, accepted by the trust policy with the mark `trust`.
    package func withTrust(policyMark mark: UInt64, chain: RecordedChain?) -> StoredResponse {
        if facts.trust == mark, chain === self.chain { return self }
        var facts = facts
        facts.trust = mark
        return StoredResponse(self, facts: facts, chain: chain, body: body, row: row)
    }

    /// The same response, as if it had been requested and received this many milliseconds later: for a response that a machine with
    /// another clock has stored.
    package func received(later shift: Int64) -> StoredResponse {
        var facts = facts
        facts.responseTime = Timestamp(milliseconds: max(0, facts.responseTime.milliseconds &+ shift))
        let requestTime = Timestamp(milliseconds: max(0, requestTime.milliseconds &+ shift))
        return StoredResponse(self, facts: facts, chain: chain, body: body, row: row, requestTime: requestTime)
    }

    /// The same response with the chain that its origin presented.
    package func with(chain: RecordedChain) -> StoredResponse {
        StoredResponse(self, facts: facts, chain: chain, body: body, row: row)
    }

    /// Whether this response comes before the other one among responses with one key (RFC 9111 §4: most recent by Date).
    package func isNewer(than other: StoredResponse) -> Bool {
        facts.dateValue == other.facts.dateValue
            ? facts.responseTime > other.facts.responseTime : facts.dateValue > other.facts.dateValue
    }
}
