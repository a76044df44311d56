import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// The heads for the client. Each head is written directly into the connection's output, without a copy.
extension Exchange {
    /// Writes the head of `selected`, a response from the store (RFC 9111 §4, §5.1).
    package func writeStoredHead(at now: Timestamp, into output: inout [UInt8]) {
        guard let stored = cache.selected else { return }
        if delivery.isUnsatisfied { return writeUnsatisfiedRange(of: wholeLength(of: stored), at: now, into: &output) }
        if delivery.isNotModified {
            writeNotModifiedHead(of: stored, into: &output)
        } else if isPrepared(stored) {
            let head = stored.preparedHead
            output.append(head.span)
        } else {
            writeChangedHead(of: stored, into: &output)
        }
        // Set-Cookie fields that arrive with a 304 or with a missing part go only to the client that made the request (T25).
        if trace.outcome == .revalidated || trace.outcome == .miss { Freshening.writeSetCookie(of: response, into: &output) }
        // A recording has the age that it had when it was recorded, even if a loop has kept it in memory for a long time.
        let moment = trace.outcome == .replayed ? stored.facts.responseTime : now
        writeEnd(age: stored.facts.currentAge(at: moment), into: &output)
    }

    /// Whether the head prepared for storage can be delivered unchanged. If the body is still in flight, it cannot, because the prepared
    /// head contains the length received so far.
    private func isPrepared(_ stored: StoredResponse) -> Bool {
        if obligations.editsResponse || delivery.range != nil || delivery.multipart != nil { return false }
        if delivery.length == .known(stored.body.length) { return true }
        // A response to HEAD has the length that the origin gave, or no length if the origin gave none.
        return delivery.length == .none && (cache.selectedLength == nil || cache.selectedLength == .known(stored.body.length))
    }

    /// The length of the whole content. For a body in flight, the length in its response's head.
    private func wholeLength(of stored: StoredResponse) -> UInt64 {
        if case .known(let length)? = cache.selectedLength { length } else { stored.body.length }
    }

    /// A rule's edits also apply to a 304 response, because the client updates its stored response from it.
    private func writeNotModifiedHead(of stored: StoredResponse, into output: inout [UInt8]) {
        guard obligations.editsResponse else { return Validation.writeNotModifiedHead(of: stored, into: &output) }
        var fields = stored.head.fields
        matched.editResponse(&fields)
        writeStatusLine(.notModified, into: &output)
        let hasEntityTag = fields.contains(.etag)
        output.appendEndToEndLines(of: fields) {
            $0 == .trailer || Validation.isLeftOutOfNotModified($0, hasEntityTag: hasEntityTag)
        }
    }

    /// Writes a stored head that a rule edits, or the head of a partial response.
    private func writeChangedHead(of stored: StoredResponse, into output: inout [UInt8]) {
        var fields = stored.head.fields
        if delivery.range != nil || delivery.multipart != nil { fields.removeDigestsOfContent() }
        if obligations.editsResponse { matched.editResponse(&fields) }
        writeStatusLine(delivery.status, of: stored.head, into: &output)
        // While the body is being received, only the origin knows which trailer fields will follow.
        let knowsTrailers = trace.outcome == .replayed || cache.selectedLength != .unknown
        output.appendEndToEndLines(of: fields) { known in
            switch known {
            case .contentLength: true
            case .contentRange: delivery.range != nil
            case .trailer: !delivery.isChunked || knowsTrailers
            case .contentType: delivery.multipart != nil
            default: false
            }
        }
        if delivery.isChunked, knowsTrailers, fields.contains(.trailer) { stored.trailers.writeTrailerNames(into: &output) }
        delivery.multipart?.writeContentType(into: &output)
        if let range = delivery.range {
            output.append("Content-Range: ")
            ContentRange.part(range, of: wholeLength(of: stored)).write(into: &output)
            output.append("\r\n")
        }
        if delivery.sendsContent { return writeFraming(into: &output) }
        if delivery.status.code != 204, cache.selectedLength != .unknown { output.appendContentLength(wholeLength(of: stored)) }
    }

    /// Prepares the heads of several parts. Each part has the representation's Content-Type; the message's Content-Type is
    /// `multipart/byteranges`.
    mutating func describeParts(of stored: StoredResponse) {
        var fields = stored.head.fields
        if obligations.editsResponse { matched.editResponse(&fields) }
        let contentType = fields.first(.contentType)?.value ?? .empty
        delivery.describeParts(contentType: fields.span(of: contentType), number: id, secret: context.boundarySecret)
    }

    /// Writes the head of the origin's response as it is relayed to the client (RFC 9110 §7.6).
    package func writeRelayedHead(at now: Timestamp, into output: inout [UInt8]) {
        if delivery.isUnsatisfied { return writeUnsatisfiedRange(of: upstream.wholeLength ?? 0, at: now, into: &output) }
        let head = transform.head ?? response
        writeStatusLine(delivery.status, of: head, into: &output)
        var fields = head.fields
        if delivery.range != nil { fields.removeDigestsOfContent() }
        if obligations.editsResponse { matched.editResponse(&fields) }
        // A response to HEAD has the origin's Content-Length, unless that contradicts the framing (RFC 9112 §6.3). Any other length is
        // written with the framing.
        let keepsContentLength = delivery.length == .none && delivery.status.code != 204 && !fields.contains(.transferEncoding)
        let hasEntityTag = fields.contains(.etag)
        output.appendEndToEndLines(of: fields) { known in
            if delivery.isNotModified { return Validation.isLeftOutOfNotModified(known, hasEntityTag: hasEntityTag) }
            return switch known {
            case .contentLength: !keepsContentLength
            case .contentRange: delivery.range != nil
            case .trailer: !delivery.isChunked
            default: false
            }
        }
        if !fields.contains(.date), delivery.status.code >= 200 {
            output.append("Date: ")
            HTTPDate.write(now, into: &output)
            output.append("\r\n")
        }
        writeFraming(into: &output)
        writeEnd(receivedIn: response.version, into: &output)
    }

    private func writeFraming(into output: inout [UInt8]) {
        if let range = delivery.range, let wholeLength = upstream.wholeLength, cache.selected == nil {
            output.append("Content-Range: ")
            ContentRange.part(range, of: wholeLength).write(into: &output)
            output.append("\r\n")
        }
        switch delivery.length {
        case .none: break
        case .known(let length): output.appendContentLength(length)
        case .unknown: if delivery.isChunked { output.append("Transfer-Encoding: chunked\r\n") }
        }
    }

    /// Writes the head of a 416 (RFC 9110 §15.5.17).
    private func writeUnsatisfiedRange(of length: UInt64, at now: Timestamp, into output: inout [UInt8]) {
        writeStatusLine(Status(416), into: &output)
        output.append("Date: ")
        HTTPDate.write(now, into: &output)
        output.append("\r\nContent-Range: ")
        ContentRange.unsatisfied(length: length).write(into: &output)
        output.append("\r\nContent-Length: 0\r\n")
        writeEnd(into: &output)
    }

    /// Writes a 1xx response that precedes the final response (RFC 9110 §15.2). An HTTP/1.0 client gets no 1xx response.
    package func writeInformational(_ head: borrowing ResponseHead, into output: inout [UInt8]) {
        guard request.version.isAtLeast11 else { return }
        writeStatusLine(head.status, of: head, into: &output)
        output.appendEndToEndLines(of: head.fields) { $0 == .contentLength }
        output.append("\r\n")
    }

    /// Writes the head of the 101 response for the client. The relayed bytes follow it.
    package func writeSwitchedHead(into output: inout [UInt8]) {
        writeStatusLine(.switchingProtocols, of: response, into: &output)
        var fields = response.fields
        if obligations.editsResponse { matched.editResponse(&fields) }
        // RFC 9110 §8.6: a 1xx has no Content-Length.
        output.appendEndToEndLines(of: fields) { $0 == .contentLength }
        ProtocolSwitch.writeLines(into: &output)
        output.append(addingCapacity: context.viaLineLength) { context.writeVia(for: response.version, into: &$0) }
        output.append("\r\n")
    }
}

// MARK: Interim responses and trailers

extension Exchange {
    /// Whether the client may wait for `100 Continue`, and never send the content.
    package var mayWithholdContent: Bool { request.fields.contains(.expect) }

    package func writeContinue(into output: inout [UInt8]) { output.append("HTTP/1.1 100 Continue\r\n\r\n") }

    /// The request's trailer fields in the form that is forwarded to the origin.
    package func forwarded(_ trailers: Fields) -> Fields {
        var forwarded = HopByHop.endToEnd(trailers, under: request.fields)
        // The rules were evaluated without trailer fields, so a trailer field that a rule looks at is removed (RFC 9110 §6.5.1: a recipient
        // may discard trailer fields).
        if !forwarded.lines.isEmpty {
            forwarded.remove { fields, line in context.rules.looksAt(field: fields.name(of: line), of: request) }
        }
        return forwarded
    }

    /// The response's trailer fields in the form that is sent to the client and stored.
    package func relayed(_ trailers: Fields) -> Fields { HopByHop.endToEnd(trailers, under: response.fields) }
}

// MARK: Generated responses

extension Exchange {
    /// Writes the error response for `trace.fault` (RFC 9209).
    package func writeError(at now: Timestamp, into output: inout [UInt8]) {
        guard let fault = trace.fault else { return }
        let row = gatewayError(fault)
        let format = GatewayErrorBody.format(for: request)
        var body: [UInt8] = []
        errorBody(row).write(format, into: &body)
        writeStatusLine(row.status, into: &output)
        output.append("Content-Type: ")
        output.append(GatewayErrorBody.contentType(format))
        output.append("\r\nDate: ")
        HTTPDate.write(now, into: &output)
        output.append("\r\n")
        if row.status.code == 405 { output.append(Self.allowLine) }
        if row.status.code == 407 { output.append(Self.challengeLine) }
        if row.status.code == 503 { output.append("Retry-After: 1\r\n") }
        if row.status.code == 429 { writeRetryAfter(into: &output) }
        output.appendContentLength(UInt64(body.count))
        writeProxyStatus(row, into: &output)
        output.append("Cache-Control: no-store\r\n")
        writeEnd(into: &output)
        if request.method != .head { output.append(contentsOf: body) }
    }

    /// Writes Retry-After: the time after which the same request may succeed. Writes nothing for a quota that applies as long as Larder
    /// runs.
    private func writeRetryAfter(into output: inout [UInt8]) {
        var seconds: UInt64 = 3
        if let refusal = incoming.limitRefusal {
            guard let wait = refusal.retryAfter else { return }
            seconds = wait
        }
        output.append("Retry-After: ")
        output.append(decimal: seconds)
        output.append("\r\n")
    }

    private func errorBody(_ row: GatewayError) -> GatewayErrorBody {
        let denying = trace.fault == .deniedByRule ? matched.denyingRule : nil
        let limiting = limitingRule
        return GatewayErrorBody(
            error: row, requestID: id, host: String(decoding: originHost, as: UTF8.self),
            rule: denying?.name ?? limiting?.name ?? transformingRule,
            reason: denying?.reason ?? limiting?.limit ?? "",
            findings: trace.findings,
            upstreamStatus: trace.upstreamStatus > 0 ? trace.upstreamStatus : nil, trust: upstream.trustRefusal,
            nearest: replayLookup?.nearest,
            hint: replayLookup?.comparisonHint ?? "", suggestion: suggestedRule)
    }

    /// If no rule allows the request, a rule that would allow it, as JSON, which is also valid YAML; otherwise empty.
    private var suggestedRule: String {
        guard trace.fault == .egressDenied, context.rules.egress.suggests else { return "" }
        return SuggestedRule.text(allowing: request)
    }

    /// The name of the rule whose transform failed; empty if none failed.
    private var transformingRule: String {
        if case .transformFailed = trace.fault { matched.transform?.ruleName ?? "" } else { "" }
    }

    private func writeProxyStatus(_ row: GatewayError, into output: inout [UInt8]) {
        output.append("Proxy-Status: ")
        output.append(contentsOf: context.pseudonym)
        if row.proxyStatus.text.utf8CodeUnitCount > 0 {
            output.append("; error=")
            output.append(row.proxyStatus.text)
        }
        if trace.upstreamStatus > 0 {
            output.append("; received-status=")
            output.append(decimal: UInt64(trace.upstreamStatus))
        }
        output.append("; details=\"")
        if !row.isToldByType { output.append(row.code.text) }
        if let detail = row.detail {
            if !row.isToldByType { output.append(": ") }
            output.append(detail.text)
        }
        if let limiting = limitingRule {
            output.append("; rule ")
            output.append(contentsOf: limiting.name.utf8)
            output.append(", ")
            output.append(contentsOf: limiting.limit.utf8)
        }
        output.append("\"\r\n")
    }

    private static var allowLine: StaticString { "Allow: GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS, TRACE, CONNECT\r\n" }

    /// The challenge for Basic authentication (RFC 9110 §11.7.1, RFC 7617 §2, §2.1).
    private static var challengeLine: StaticString { "Proxy-Authenticate: Basic realm=\"Larder\", charset=\"UTF-8\"\r\n" }

    /// Writes the responses that Larder itself makes: to OPTIONS for the server as a whole, to PURGE, and to requests for
    /// Larder's own pages. Larder also answers a TRACE or OPTIONS that must not be forwarded (RFC 9110 §9.3.7, §9.3.8).
    package func writeLocal(at now: Timestamp, into output: inout [UInt8]) {
        writeStatusLine(.ok, into: &output)
        output.append("Date: ")
        HTTPDate.write(now, into: &output)
        output.append("\r\n")
        if let purgedCount = incoming.purge?.count { return writePurged(purgedCount, into: &output) }
        if let page = OwnPage(request) { return writeOwnPage(page, into: &output) }
        guard request.method == .trace else {
            output.append(Self.allowLine)
            output.append("Content-Length: 0\r\n")
            return writeEnd(into: &output)
        }
        var echo: [UInt8] = []
        TraceEcho.write(request, into: &echo)
        output.append("Content-Type: message/http\r\n")
        output.appendContentLength(UInt64(echo.count))
        writeEnd(into: &output)
        output.append(contentsOf: echo)
    }

    private func writePurged(_ count: Int, into output: inout [UInt8]) {
        var body: [UInt8] = []
        body.append("purged ")
        body.append(decimal: UInt64(count))
        body.append("\n")
        output.append("Content-Type: text/plain\r\n")
        output.appendContentLength(UInt64(body.count))
        writeEnd(into: &output)
        output.append(contentsOf: body)
    }

    /// Writes the fields that follow the common fields, and the content.
    private func writeOwnPage(_ page: OwnPage, into output: inout [UInt8]) {
        let content =
            switch page {
            case .script: configurationScript
            case .certificatePEM: context.rootCertificate?.pem ?? []
            case .certificateDER: context.rootCertificate?.der ?? []
            }
        output.append("Content-Type: ")
        output.append(page.contentType)
        // Web pages of other sites must not be able to use Larder's own pages in any way.
        output.append("\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n")
        output.append("Cross-Origin-Resource-Policy: same-origin\r\n")
        output.appendContentLength(UInt64(content.count))
        writeEnd(into: &output)
        if request.method != .head { output.append(contentsOf: content) }
    }

    /// A script that sends all http requests through the listener that the client has addressed.
    private var configurationScript: [UInt8] {
        guard let host = request.hostField else { return [] }
        var script: [UInt8] = []
        script.append("function FindProxyForURL(url, host) {\n  return /^(https?|wss?):/i.test(url) ? \"PROXY ")
        if host.hostKind == .ipv6 { script.append("[") }
        // The host is one of the names of our listeners, so it contains no character that could end the string.
        script.append(request.span(of: host.host))
        if host.hostKind == .ipv6 { script.append("]") }
        script.append(":")
        script.append(decimal: UInt64(host.port ?? 80))
        script.append("\" : \"DIRECT\";\n}\n")
        return script
    }
}

// MARK: Field lines

extension Exchange {
    private func writeStatusLine(_ status: Status, into output: inout [UInt8]) {
        writeStatusLine(status, reason: status.reasonPhrase, into: &output)
    }

    private func writeStatusLine(_ status: Status, of head: borrowing ResponseHead, into output: inout [UInt8]) {
        let isOwn = status == head.status && !head.reason.isEmpty
        guard isOwn else { return writeStatusLine(status, into: &output) }
        writeStatusLine(status, reason: "", into: &output)
        output.removeLast(2)
        output.append(head.span(of: head.reason))
        output.append("\r\n")
    }

    private func writeStatusLine(_ status: Status, reason: StaticString, into output: inout [UInt8]) {
        output.append("HTTP/1.1 ")
        output.append(decimal: UInt64(status.code))
        output.append(ASCII.space)
        output.append(reason)
        output.append("\r\n")
    }

    /// Writes Age for stored responses, Via, the status fields, and whether the connection closes; then the empty line.
    func writeEnd(age: DeltaSeconds? = nil, receivedIn version: HTTPVersion = .http11, into output: inout [UInt8]) {
        let capacity = Age.lineLimit + context.viaLineLength + CacheStatus.lineLimit + Self.lastLinesLimit
        output.append(addingCapacity: capacity) { output in
            if let age { Age.write(age, into: &output) }
            context.writeVia(for: version, into: &output)
            writeCacheStatus(into: &output)
            if !context.tellsKey { writeLastLines(into: &output) }
        }
        if context.tellsKey {
            if trace.reuse != nil { CacheStatus.append(key: key, toFieldAtEndOf: &output) }
            output.append(addingCapacity: Self.lastLinesLimit) { writeLastLines(into: &$0) }
        }
    }

    private func writeLastLines(into output: inout OutputSpan<UInt8>) {
        if delivery.isAnnotated { writeValidationNote(into: &output) }
        if let transform = trace.transform { writeTransformNote(transform, into: &output) }
        if !delivery.keepsConnection { output.append(Self.closeLine) }
        output.append("\r\n")
    }

    private static var closeLine: StaticString { "Connection: close\r\n" }

    /// The maximum length of the lines of `writeLastLines`, including the empty line.
    private static var lastLinesLimit: Int {
        ValidationFaults.lineLimit + transformLineLimit + closeLine.utf8CodeUnitCount + 2
    }

    /// The maximum length of the line that reports a transform, with the longest rule name and the longest reason.
    private static var transformLineLimit: Int { 128 + PolicyLimits.nameLength }

    /// Writes Cache-Status, which says how the cache handled the request (RFC 9211). Every response has this field.
    private func writeCacheStatus(into output: inout OutputSpan<UInt8>) {
        guard let reuse = trace.reuse, var status = CacheStatus(reuse) else { return writeRecordingStatus(into: &output) }
        // The request was forwarded, and the response was an error.
        if case .staleAllowed = reuse, trace.upstreamStatus > 0 { status.outcome = .forwarded(.stale) }
        switch trace.storage {
        case .stored(_, _, let usedUnsafe):
            status.stored = true
            if usedUnsafe { status.detail = "unsafe" }
        case .refused(let refusal): if trace.upstreamStatus > 0 { status.detail = refusal.word }
        case nil: break
        }
        if trace.upstreamStatus > 0, trace.upstreamStatus != delivery.status.code {
            status.forwardStatus = Status(trace.upstreamStatus)
        }
        status.collapsing = cache.isCollapsed ? .collapsed : cache.collapsing
        if case .made = trace.transform, case .hit = status.outcome, status.detail == nil { status.detail = "transformed" }
        guard !matched.isEmpty, let override = overrides.first else { return status.writeField(into: &output) }
        status.overriddenWord = override.word
        status.writeField(rule: override.rule.name, into: &output)
    }

    /// Writes the validation faults of a response that is delivered although a rule found faults in it.
    private func writeValidationNote(into output: inout OutputSpan<UInt8>) {
        output.append("Larder-Validation: ")
        var isFirst = true
        trace.findings.forEach { code in
            if !isFirst { output.append(", ") }
            isFirst = false
            output.append(code.word)
        }
        output.append("\r\n")
    }

    /// Writes the line that reports the result of a transform.
    private func writeTransformNote(_ transform: TransformTrace, into output: inout OutputSpan<UInt8>) {
        output.append("Larder-Transform: ")
        output.append(transform.word)
        if let reason = transform.reason {
            output.append("; reason=")
            output.append(reason)
        }
        if let plan = matched.transform {
            // Rule names contain neither quotes nor backslashes.
            output.append("; rule=\"")
            for octet in plan.ruleName.utf8 { output.append(octet) }
            output.append("\"")
        }
        output.append("\r\n")
    }

    /// Writes Cache-Status for a request that recordings handled without the store (RFC 9211).
    private func writeRecordingStatus(into output: inout OutputSpan<UInt8>) {
        switch trace.recording {
        case .replayed(let layer):
            output.append("Cache-Status: Larder; hit; detail=\"replay ")
            // The name of a replay source contains neither quotes nor backslashes.
            for octet in context.layerName(layer).utf8 { output.append(octet) }
            output.append("\"\r\n")
        case .recorded:
            output.append("Cache-Status: Larder; fwd=bypass; detail=")
            output.append(mode == .refresh ? "refresh" : mode == .diff ? "diff" : "record")
            output.append("\r\n")
        case .missed: output.append("Cache-Status: Larder; detail=offline_miss\r\n")
        case nil: break
        }
    }
}
