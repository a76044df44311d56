import HTTPCaching
import HTTPMessage

extension FoundRecording {
    /// The response as a stored response, from which 304, 206, 416 and responses to HEAD are derived as usual (RFC 9110 §13, §14). So
    /// one complete recording serves clients with their own cache, and clients that resume a download.
    /// - Parameters:
    ///   - now: the time of delivery. The age of the response stays the age that it had when it was recorded.
    ///   - body: the location of the body's bytes.
    /// - Returns: `nil` if the exchange failed before a response head arrived, and for a status outside 200...599.
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
        // `facts` has the age, from which delivery writes the Age field.
        head.fields.remove(.age)
        return StoredResponse(
            key: recording.request.uri, nominatedFields: [], facts: facts, head: head, requestTime: now, body: body,
            trailers: response.trailers)
    }
}
