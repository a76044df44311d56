import HTTPMessage

/// Which fields of a response are stored, and how its head is written from the store (RFC 9111 §3.1).
package enum StoredFields {
    /// The head to store and the canonical form of the nominated request fields. The result is `nil` if Vary cannot be satisfied;
    /// `Storability` has already given the reason.
    package static func prepare(
        _ response: ResponseHead, to request: RequestHead, facts: ReuseFacts, _ secondary: SecondaryKey = .none
    ) -> (head: ResponseHead, nominatedFields: [UInt8])? {
        guard let nominated = Vary.nominatedFields(for: response, request: request, secondary) else { return nil }
        return (makeHead(from: response, facts: facts), nominated)
    }

    /// A copy of the head that holds only the fields to store. Always has a Date.
    package static func makeHead(from response: ResponseHead, facts: ReuseFacts) -> ResponseHead {
        var head = ResponseHead()
        head.status = response.status
        head.version = .http11
        head.fields.reserve(byteCount: response.fields.bytes.count, lineCount: response.fields.count + 1)
        head.reason = head.fields.appendBytes(response.span(of: response.reason))
        let dateIsValid = hasValidDate(response.fields, facts: facts)
        let hopByHop = HopByHop(of: response.fields)
        let heedsQualifiers = heedsQualifiers(of: response.fields, isTargeted: facts.flags.contains(.targeted))
        for line in response.fields.lines where isStored(line, of: response.fields, hopByHop, heedsQualifiers) {
            if line.known == .date, !dateIsValid { continue }
            head.fields.append(name: response.fields.name(of: line), value: response.fields.value(of: line))
        }
        if !dateIsValid {
            // RFC 9110 §6.6.1: a missing or invalid Date is replaced by the time of reception.
            var date: [UInt8] = []
            HTTPDate.write(facts.responseTime, into: &date)
            head.fields.append("Date", date.span)
        }
        return head
    }

    /// Appends the status line and the field lines, without Age and the last CRLF. Fields that a 304 omits come last, so that the
    /// fields that a 304 has are contiguous; lines with the same name keep their order.
    /// - Parameter contentLength: replaces the origin server's Content-Length; `nil` while the length is unknown.
    /// - Returns: the position in the output of the field lines that a 304 also has.
    static func writeHead(_ head: ResponseHead, contentLength: UInt64?, into output: inout [UInt8]) -> Extent {
        let fields = head.fields
        let hasEntityTag = fields.contains(.etag)
        writeStatusLine(head.status, reason: head.span(of: head.reason), into: &output)
        let start = output.count
        for line in fields.lines where !Validation.isLeftOutOfNotModified(line.known, hasEntityTag: hasEntityTag) {
            // The Trailer field is left out: trailer fields require the chunked coding, so a head with trailers is written separately.
            if line.known != .trailer { fields.write(line, into: &output) }
        }
        let shared = Extent(start..<output.count)
        for line in fields.lines where Validation.isLeftOutOfNotModified(line.known, hasEntityTag: hasEntityTag) {
            if line.known != .contentLength { fields.write(line, into: &output) }
        }
        guard let contentLength, head.status.code != 204 else { return shared }
        output.append("Content-Length: ")
        output.append(decimal: contentLength)
        output.append("\r\n")
        return shared
    }

    static func writeStatusLine(_ status: Status, reason: Span<UInt8>, into output: inout [UInt8]) {
        output.append("HTTP/1.1 ")
        output.append(decimal: UInt64(status.code))
        output.append(ASCII.space)
        if reason.isEmpty { output.append(status.reasonPhrase) } else { output.append(reason) }
        output.append("\r\n")
    }

    /// Whether this field, if present, is stored.
    static func keep(_ field: KnownField, of fields: Fields, isTargeted: Bool) -> Bool {
        guard let line = fields.first(field) else { return true }
        return isStored(line, of: fields, HopByHop(of: fields), heedsQualifiers(of: fields, isTargeted: isTargeted))
    }

    private static func heedsQualifiers(of fields: Fields, isTargeted: Bool) -> Bool {
        !isTargeted && QualifiedNames.areThere(in: fields)
    }

    /// Whether the line is stored. The hop-by-hop fields, which are not stored, include fields about a client's proxy configuration.
    private static func isStored(
        _ line: FieldLine, of fields: Fields, _ hopByHop: HopByHop, _ heedsQualifiers: Bool
    ) -> Bool {
        line.known != .age && !hopByHop.contains(line, of: fields) && !(heedsQualifiers && isQualified(line, of: fields))
    }

    /// Whether a qualified no-cache or private names the field: a shared cache must not store it.
    private static func isQualified(_ line: FieldLine, of fields: Fields) -> Bool {
        line.known != .cacheControl && QualifiedNames.contain(fields.name(of: line), in: fields)
    }

    private static func hasValidDate(_ fields: Fields, facts: ReuseFacts) -> Bool {
        guard fields.lineCount(of: .date) == 1, let line = fields.first(.date) else { return false }
        return HTTPDate.parse(fields.value(of: line), now: facts.responseTime) != nil
    }
}
