import HTTPCaching
import HTTPMessage
import HTTPSerialization
import ServerTrust

/// How recordings are delivered to clients.
package struct ReplayTerms: Sendable {
    /// A body of up to this many bytes is read at once; a longer body is read in pieces.
    package var wholeLength: UInt64
    /// The maximum length, encoded and decoded, of a body that Larder decodes for a client that does not accept its codings, in bytes.
    package var decodedLength: UInt64
    /// Whether dates are shifted so that the response seems to have been recorded at the time of delivery.
    package var movesDates: Bool

    package init(wholeLength: UInt64, decodedLength: UInt64, movesDates: Bool) {
        self.wholeLength = wholeLength
        self.decodedLength = decodedLength
        self.movesDates = movesDates
    }
}

/// The response delivered from a recording.
package enum ReplayedResponse: Sendable {
    /// - Parameters:
    ///   - isLengthTold: whether the length of the content is known; the recorded response to a HEAD may have no Content-Length.
    ///   - isLasting: whether an equal request gets the same response again.
    case response(StoredResponse, isLengthTold: Bool, isLasting: Bool)
    /// The content is truncated, because the recorded response was.
    /// - Parameter toldLength: the recorded Content-Length; `nil` if the recording has none.
    case broken(StoredResponse, toldLength: UInt64?, RecordedFailure)
    case failure(RecordedFailure)
}

/// The response delivered from a recording, with the data that is delivered separately.
package struct ReplayedRecording: Sendable {
    package let response: ReplayedResponse
    /// The body to read piece by piece; `nil` if the content is in the response.
    package var body: RecordedBody?
    /// The digest of the whole content as recorded; `nil` if there is no content.
    package var digest: SHA256Digest?
    /// The fields of each 103 to send before the response.
    package var earlyHints: [Fields] = []
}

extension SnapshotLayer {
    /// The response that a client gets from a recording found for its request.
    /// - Parameter now: the time of delivery.
    /// - Returns: `nil` for a status outside 200...599.
    /// - Throws: `damaged`.
    package func replayed(
        _ found: FoundRecording, to request: RequestToMatch, at now: Timestamp, _ terms: ReplayTerms
    ) throws(SnapshotError) -> ReplayedRecording? {
        let found = terms.movesDates ? found.moved(to: now) : found
        if let failure = found.recording.failure { return broken(found, by: failure, at: now) }
        let recorded = found.recording.response?.body
        var (given, body, later) = try content(of: found, for: request, terms)
        // Only the length of the body matters for a response to HEAD.
        var isLengthTold = true
        if request.method == Array("HEAD".utf8), !given.isFromGet {
            let length = given.recording.response?.toldLength
            isLengthTold = length != nil
            if let length { body = .onDisk(BodyReference(id: 0, length: length)) }
            later = nil
        }
        guard let stored = given.storedResponse(at: now, body: body) else { return nil }
        // If dates are shifted, the response to the next equal request differs.
        let isLasting = isLengthTold && given.sequenceLength == 1 && end != .error && !terms.movesDates
        return ReplayedRecording(
            response: .response(stored, isLengthTold: isLengthTold, isLasting: isLasting), body: later, digest: recorded?.digest,
            earlyHints: given.recording.response?.earlyHints ?? [])
    }

    /// The content of a recording, without content codings if the client does not accept them.
    /// - Returns: the recording with fields that describe the result, its content, and the recorded body if that is to be read later.
    private func content(
        of found: FoundRecording, for request: RequestToMatch, _ terms: ReplayTerms
    ) throws(SnapshotError) -> (given: FoundRecording, body: StoredBody, later: RecordedBody?) {
        guard let recorded = found.recording.response?.body else { return (found, .bytes([]), nil) }
        let isWhole = recorded.length <= terms.wholeLength
        if recorded.length <= terms.decodedLength, !matcher.terms.isExact, let fields = found.recording.response?.fields,
            !AcceptedCodings(request.fields).permit(ContentCodings(of: fields), of: fields),
            let (plain, decoded) = found.decoded(try snapshot.octets(of: recorded), lengthLimit: terms.decodedLength)
        {
            return (plain, .bytes(decoded), nil)
        }
        if isWhole { return (found, .bytes(try snapshot.octets(of: recorded)), nil) }
        // The ID 0 means that the body is not in the response store: `RecordedBodyPlace` reads it from the snapshot.
        return (found, .onDisk(BodyReference(id: 0, length: recorded.length)), recorded)
    }

    /// Delivers the recorded part of a truncated response.
    private func broken(_ found: FoundRecording, by failure: RecordedFailure, at now: Timestamp) -> ReplayedRecording {
        let response = found.recording.response
        let reference = BodyReference(id: 0, length: response?.body?.length ?? 0)
        guard let stored = found.storedResponse(at: now, body: .onDisk(reference)) else {
            return ReplayedRecording(response: .failure(failure))
        }
        return ReplayedRecording(
            response: .broken(stored, toldLength: response?.toldLength, failure), body: response?.body,
            digest: response?.body?.digest, earlyHints: response?.earlyHints ?? [])
    }
}

extension RecordedResponse {
    /// The value of Content-Length.
    fileprivate var toldLength: UInt64? {
        guard let line = fields.first(.contentLength) else { return nil }
        return UInt64(String(decoding: fields.bytes[line.value.range], as: UTF8.self))
    }
}
