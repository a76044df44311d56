import HTTPCaching
import HTTPMessage
import HTTPSerialization
import ServerTrust

/// How recordings are given to clients.
package struct ReplayTerms: Sendable {
    /// Bytes of a body that is read at once; a longer one is read in pieces.
    package var wholeLength: UInt64
    /// Bytes of a body, in its codings and out of them, that is taken out of them for a client that does not know them.
    package var decodedLength: UInt64
    /// Whether answers are dated as if they had been recorded when they are given.
    package var movesDates: Bool

    package init(wholeLength: UInt64, decodedLength: UInt64, movesDates: Bool) {
        self.wholeLength = wholeLength
        self.decodedLength = decodedLength
        self.movesDates = movesDates
    }
}

/// What a recording gives a client.
package enum ReplayedResponse: Sendable {
    /// - Parameters:
    ///   - isLengthTold: the answer to a HEAD may tell none.
    ///   - isLasting: whoever asks the same gets the same.
    case response(StoredResponse, isLengthTold: Bool, isLasting: Bool)
    /// Its content breaks off.
    /// - Parameter toldLength: what its head has said of it; `nil` where that is nothing.
    case broken(StoredResponse, toldLength: UInt64?, RecordedFailure)
    case failure(RecordedFailure)
}

/// What a recording gives a client, and what of it does not stand in the response.
package struct ReplayedRecording: Sendable {
    package let response: ReplayedResponse
    /// Where the content is read piece by piece; `nil` where the response holds it.
    package var body: RecordedBody?
    /// Of the whole content as it was recorded; `nil` where it has none.
    package var digest: SHA256Digest?
    /// The fields of each 103 that is sent before it.
    package var earlyHints: [Fields] = []
}

extension SnapshotLayer {
    /// What a client is given of a recording that was found for its request.
    /// - Parameter now: when it is delivered.
    /// - Returns: `nil` for a status from which nothing is derived.
    /// - Throws: `damaged`.
    package func replayed(
        _ found: FoundRecording, to request: RequestToMatch, at now: Timestamp, _ terms: ReplayTerms
    ) throws(SnapshotError) -> ReplayedRecording? {
        let found = terms.movesDates ? found.moved(to: now) : found
        if let failure = found.recording.failure { return broken(found, by: failure, at: now) }
        let recorded = found.recording.response?.body
        var (given, body, later) = try content(of: found, for: request, terms)
        // To a HEAD, its length is all that is told of a body.
        var isLengthTold = true
        if request.method == Array("HEAD".utf8), !given.isFromGet {
            let length = given.recording.response?.toldLength
            isLengthTold = length != nil
            if let length { body = .onDisk(BodyReference(id: 0, length: length)) }
            later = nil
        }
        guard let stored = given.storedResponse(at: now, body: body) else { return nil }
        // What is dated when it is given is another one the next time.
        let isLasting = isLengthTold && given.sequenceLength == 1 && end != .error && !terms.movesDates
        return ReplayedRecording(
            response: .response(stored, isLengthTold: isLengthTold, isLasting: isLasting), body: later, digest: recorded?.digest,
            earlyHints: given.recording.response?.earlyHints ?? [])
    }

    /// The content of a recording, out of its codings where the client does not know them.
    /// - Returns: the recording with fields that say what is so then, its content, and what of it is read later.
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
        return (found, .onDisk(BodyReference(id: 0, length: recorded.length)), recorded)
    }

    /// What had come of the answer comes again, and ends where it ended.
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
    /// What its Content-Length says.
    fileprivate var toldLength: UInt64? {
        guard let line = fields.first(.contentLength) else { return nil }
        return UInt64(String(decoding: fields.bytes[line.value.range], as: UTF8.self))
    }
}
