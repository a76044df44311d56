import HTTPCaching
import HTTPMessage

extension FoundRecording {
    /// The answer as a stored response, from which 304, 206, 416 and the answer to HEAD are derived as from any other (RFC 9110 §13, §14): a
    /// recording of the whole serves a client with a cache of its own, and one that goes on with a download.
    /// - Parameters:
    ///   - now: when it is delivered: it is as old as it was when it was recorded.
    ///   - body: where its bytes are had.
    /// - Returns: `nil` where the exchange failed before a head came, and for a status from which nothing is derived.
    package func storedResponse(at now: Timestamp, body: StoredBody) -> StoredResponse? {
        guard let response = recording.response, (200...599).contains(response.status.code) else { return nil }
        var head = ResponseHead()
        head.status = response.status
        head.fields = response.fields
        head.reason = head.fields.appendBytes(response.reason.span)
        // Its Date is from long ago; what it says of its age is not.
        var dated = head
        dated.fields.moveDates(from: recording.times.started, to: now)
        let facts = Storability.facts(
            of: dated, directives: ResponseDirectives(head.fields, targets: .none), requestTime: now, responseTime: now)
        // It stands in the facts, and is told as it is when it is delivered.
        head.fields.remove(.age)
        return StoredResponse(
            key: recording.request.uri, nominatedFields: [], facts: facts, head: head, requestTime: now, body: body,
            trailers: response.trailers)
    }
}
