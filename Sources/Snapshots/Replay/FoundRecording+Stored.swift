import HTTPCaching
import HTTPMessage

extension FoundRecording {
    /// The response as a stored response, from which 304, 206, 416 and responses to HEAD are derived as usual (RFC 9110 §13, §14). So one
    /// complete recording serves clients with their own cache, and clients that resume a download.
    /// - Parameters:
    ///   - now: when it is delivered: its age stays the age that it had when it was recorded.
    ///   - body: the location of its bytes.
    /// - Returns: `nil` if the exchange failed before a response head arrived, and for a status outside 200...599.
    package func storedResponse(at now: Timestamp, body: StoredBody) -> StoredResponse? {
        guard let response = recording.response, (200...599).contains(response.status.code) else { return nil }
        var head = ResponseHead()
        head.status = response.status
        head.fields = response.fields
        head.reason = head.fields.appendBytes(response.reason.span)
        // Its Date is long past; its Age is relative and still applies.
        var dated = head
        dated.fields.moveDates(from: recording.times.started, to: now)
        let facts = Storability.facts(
            of: dated, directives: ResponseDirectives(head.fields, targets: .none), requestTime: now, responseTime: now)
        // The facts contain the age; delivery writes the field.
        head.fields.remove(.age)
        return StoredResponse(
            key: recording.request.uri, nominatedFields: [], facts: facts, head: head, requestTime: now, body: body,
            trailers: response.trailers)
    }
}
