import HTTPCaching
import HTTPMessage

extension FoundRecording {
    /// The recorded response as a stored response, from which Larder makes 304, 206, 416 and responses to HEAD as it does for the cache
    /// (RFC 9110 §13, §14). So one complete recording serves clients that have their own cache, and clients that resume a download.
    /// - Parameters:
    ///   - now: the time of delivery. The age of the response stays the age that it had when it was recorded.
    ///   - body: the location of the body's bytes.
    /// - Returns: `nil` if the exchange failed before a response head arrived, or if the status is outside 200...599.
    package func storedResponse(at now: Timestamp, body: StoredBody) -> StoredResponse? {
        guard let response = recording.response, (200...599).contains(response.status.code) else { return nil }
        var head = ResponseHead()
        head.status = response.status
        head.fields = response.fields
        head.reason = head.fields.appendBytes(response.reason.span)
        // The recorded Date is shifted, because it is in the past. The recorded Age is relative, and still applies.
        var dated = head
        dated.fields.moveDates(from: recording.times.started, to: now)
        let facts = Storability.facts(
            of: dated, directives: ResponseDirectives(head.fields, targets: .none), requestTime: now, responseTime: now)
        // Delivery writes the Age field from the age in `facts`.
        head.fields.remove(.age)
        return StoredResponse(
            key: recording.request.uri, nominatedFields: [], facts: facts, head: head, requestTime: now, body: body,
            trailers: response.trailers)
    }
}
