import HTTPMessage
import HTTPSerialization
import SecretScanning
import ServerTrust

/// Records exchanges into a snapshot: removes connection-specific fields, replaces secrets by placeholders, and computes identities.
/// Data is written only after these steps. The exception is a response body that is too long to be searched. Confined to its writer's
/// thread.
package final class SnapshotRecorder {
    /// The writer of the snapshot; `nil` if the recorder only compares responses.
    package let writer: SnapshotWriter?
    /// The recordings to compare with; `nil` if every response is kept.
    fileprivate let former: RecordedAnswers?
    fileprivate var refreshed = RefreshedAnswers()
    private var redactor: Redactor
    /// The id of the last recording that was written before the latest secret became known. Recordings up to this one may contain that
    /// secret.
    private var lastBeforeKnowledge: Int64 = 0
    private let matcher: RequestMatcher
    private let key: ProjectKey

    /// - Parameters:
    ///   - unscanned: what to do with a body that cannot be searched; `nil` refuses JSON and forms, and keeps other bodies.
    ///   - former: recordings to compare with; if set, only responses that differ from them are kept.
    package init(
        _ writer: SnapshotWriter, key: ProjectKey, unscanned: Redactor.Unscanned? = nil, unlessIn former: RecordedAnswers? = nil
    ) throws(SnapshotError) {
        self.writer = writer
        self.former = former
        self.key = key
        redactor = try onSecretScanning { () throws(SecretScanningError) in
            try Redactor(key: key, secrets: writer.manifest.terms.secrets, unscanned: unscanned)
        }
        matcher = try RequestMatcher(writer.manifest.terms)
    }

    /// Creates a recorder that compares responses and writes nothing.
    package init(comparing former: RecordedAnswers, key: ProjectKey) throws(SnapshotError) {
        writer = nil
        self.former = former
        self.key = key
        redactor = try onSecretScanning { () throws(SecretScanningError) in
            try Redactor(key: key, secrets: former.terms.secrets, unscanned: .keep)
        }
        matcher = try RequestMatcher(former.terms)
    }

    /// A URI without its query, to be shown to users.
    static func shown(_ uri: [UInt8]) -> String {
        String(decoding: uri.prefix { $0 != ASCII.question }, as: UTF8.self)
    }

    /// Begins an exchange with a complete request.
    /// - Throws: `unsearchable` for a body that is not kept because it cannot be searched.
    package func begin(_ request: RequestToMatch) throws(SnapshotError) -> ExchangeRecording {
        let asked = request
        var request = request
        Self.removeHopByHop(from: &request.fields)
        let isRedacted = try redact(&request)
        return ExchangeRecording(
            self, request, asked: former == nil ? nil : asked, isRedacted: isRedacted, knowledge: redactor.knowledge)
    }

    // MARK: Secrets

    /// - Returns: whether a secret was replaced.
    /// - Throws: `unsearchable` for a body that is not kept because it cannot be searched.
    fileprivate func redact(_ request: inout RequestToMatch) throws(SnapshotError) -> Bool {
        defer { noteKnowledge() }
        var isRedacted = false
        redactor.learn(uri: request.uri)
        redactor.learn(request.fields)
        if case .octets(let octets) = request.body {
            switch redactor.body(octets, describedBy: request.fields) {
            case .asItWas: break
            case .replaced(let text):
                request.body = .octets(text)
                Redactor.describe(text, in: &request.fields)
                isRedacted = true
            case .refused: throw .unsearchable("the request to \(Self.shown(request.uri))")
            }
        }
        let uri = redactor.redacted(uri: request.uri)
        isRedacted = uri != request.uri || isRedacted
        request.uri = uri
        return redactor.redact(&request.fields) || isRedacted
    }

    /// Replaces secrets that became known after the request was received.
    fileprivate func redact(_ request: inout RequestToMatch, knownSince knowledge: Int) throws(SnapshotError) -> Bool {
        guard redactor.knowledge > knowledge else { return false }
        return try redact(&request)
    }

    fileprivate func learn(_ fields: Fields) {
        redactor.learn(fields)
        noteKnowledge()
    }

    fileprivate func redact(_ fields: inout Fields) -> Bool { redactor.redact(&fields) }

    /// Replaces secrets in early hints. A placeholder may be longer than its secret: early hints that then exceed the limits are left out.
    fileprivate func redact(_ hints: inout [Fields]) -> Bool {
        var isRedacted = false
        for index in hints.indices { isRedacted = redact(&hints[index]) || isRedacted }
        hints = EarlyHints.withinLimits(hints)
        return isRedacted
    }

    fileprivate func body(_ octets: [UInt8], describedBy fields: Fields) -> Redactor.Body {
        defer { noteKnowledge() }
        return redactor.body(octets, describedBy: fields)
    }

    private var notedKnowledge = 0

    private func noteKnowledge() {
        guard redactor.knowledge > notedKnowledge, let writer else { return }
        notedKnowledge = redactor.knowledge
        lastBeforeKnowledge = writer.lastRecording
    }

    /// Finishes the snapshot. First replaces secrets in this run's earlier recordings, if the secrets became known after the recordings
    /// were written.
    /// - Returns: `nil` if the recorder only compares responses.
    package func finish(signing key: SigningKey? = nil) throws(SnapshotError) -> SnapshotRoots? {
        try redactEarlier()
        return try writer?.finish(signing: key)
    }

    /// - Parameter isWhole: whether earlier generations are searched too; needed for a file in which all recordings are written again.
    func redactEarlier(inAllGenerations isWhole: Bool = false) throws(SnapshotError) {
        try writer?.rewrite(upTo: lastBeforeKnowledge, inAllGenerations: isWhole) { [self] (recording) throws(SnapshotError) in
            try redacted(recording)
        }
    }

    /// - Returns: the recording without secrets that became known after it was written; `nil` if no further secret was replaced.
    func redacted(_ recording: Recording) throws(SnapshotError) -> Recording? {
        guard let writer else { return nil }
        var result = recording
        var request = try writer.request(of: recording)
        result.isRedacted = try redact(&request)
        if result.isRedacted {
            result.request.uri = request.uri
            result.request.fields = request.fields
            if case .octets(let octets) = request.body { result.request.body = try writer.body(octets) }
        }
        if var response = recording.response {
            if let body = response.body, body.isKept, body.length <= UInt64(SnapshotLimits.requestBodyLength),
                case .replaced(let text) = self.body(try writer.octets(of: body), describedBy: response.fields)
            {
                response.body = try writer.body(text)
                Redactor.describe(text, in: &response.fields)
                Redactor.describe(text, in: &response.trailers)
                result.isRedacted = true
            }
            result.isRedacted = redact(&response.fields) || result.isRedacted
            result.isRedacted = redact(&response.trailers) || result.isRedacted
            result.isRedacted = redact(&response.earlyHints) || result.isRedacted
            result.response = response
        }
        guard result.isRedacted else { return nil }
        result.identity = try identity(of: request, response: result.response?.fields)
        return result
    }

    static func removeHopByHop(from fields: inout Fields) {
        let hopByHop = HopByHop(of: fields)
        fields.remove { fields, line in hopByHop.contains(line, of: fields) }
    }

    fileprivate func unsearched(describedBy fields: Fields) -> Redactor.Body { redactor.unsearched(describedBy: fields) }

    fileprivate func identity(of request: RequestToMatch, response: Fields?) throws(SnapshotError) -> RequestIdentity {
        guard let identity = matcher.identity(of: request, response: response, under: key) else {
            preconditionFailure("under a key every request has an identity")
        }
        return identity
    }
}

/// The outcome of recording an exchange.
package enum RecordingOutcome: Sendable {
    case recorded
    /// The response equals an existing recording.
    case unchanged
    /// The response differs from the existing recording, and is not kept.
    case differs(SnapshotDiff.Entry)
}

/// Records one exchange. The response's body arrives in pieces. Content that is searched for secrets is held until it is complete, up
/// to 8 MiB.
package final class ExchangeRecording {
    private let recorder: SnapshotRecorder
    private var request: RequestToMatch
    /// The request as received; `nil` if the recorder does not compare responses.
    private var asked: RequestToMatch?
    private var response: RecordedResponse?
    /// The fields of each 103 response received before the final response.
    private var earlyHints: [Fields] = []
    /// Whether an early hint exceeded the limits. Then later early hints are not kept either.
    private var hasTooManyHints = false
    private var isRedacted: Bool
    /// The value of `Redactor.knowledge` when the request was received. If `Redactor.knowledge` is now greater, the request may contain
    /// secrets that were unknown then.
    private let knowledge: Int
    /// The part of the body received so far, which is searched when the body is complete.
    private var held: [UInt8] = []
    /// The writer of a body that is too long to be searched.
    private var body: BodyWriter?
    /// The digest of a body that is too long to be searched, if nothing is written.
    private var digest: (hasher: DigestHasher, length: UInt64)?
    /// The digest of the response's content as the file stores it, or would store it. It is set when the exchange has ended; `nil` if
    /// there is no content, or if nothing was recorded. For an unchanged response, it is the digest in the existing recording.
    package private(set) var bodyDigest: SHA256Digest?

    fileprivate init(
        _ recorder: SnapshotRecorder, _ request: RequestToMatch, asked: RequestToMatch?, isRedacted: Bool, knowledge: Int
    ) {
        self.recorder = recorder
        self.request = request
        self.asked = asked
        self.isRedacted = isRedacted
        self.knowledge = knowledge
    }

    /// The request's URI without its query, to be shown to users.
    package var url: String { SnapshotRecorder.shown(request.uri) }

    /// Sets the request's content that was too long to be held, now that its digest and length are known.
    package func requestBody(_ body: RequestToMatch.Body) {
        request.body = body
        asked?.body = body
    }

    /// Adds the fields of a 103 as received, before the final response's head. A 103 that exceeds the limits is dropped, and so are all
    /// later ones.
    package func earlyHints(_ fields: Fields) {
        var fields = fields
        SnapshotRecorder.removeHopByHop(from: &fields)
        hasTooManyHints = hasTooManyHints || !EarlyHints.areWithinLimits(earlyHints + [fields])
        if !hasTooManyHints { earlyHints.append(fields) }
    }

    /// Sets the response's head as received.
    package func head(status: Status, reason: [UInt8], fields: Fields) {
        var fields = fields
        SnapshotRecorder.removeHopByHop(from: &fields)
        response = RecordedResponse(status: status, reason: reason, fields: fields, earlyHints: earlyHints)
    }

    /// Appends the next bytes of the response's body, without its transfer coding.
    /// - Throws: `unsearchable` if the body becomes too long to be searched and must not be kept unsearched. Then the exchange is not
    ///   recorded.
    package func append(_ octets: Span<UInt8>) throws(SnapshotError) {
        if let body { return try body.append(octets) }
        if let digest {
            digest.hasher.update(octets)
            self.digest?.length += UInt64(octets.count)
            return
        }
        held.append(octets)
        guard held.count > SnapshotLimits.requestBodyLength else { return }
        guard recorder.unsearched(describedBy: response?.fields ?? Fields()) == .asItWas else {
            throw .unsearchable("the response of \(url)")
        }
        let begun = held
        held = []
        guard let writer = recorder.writer else {
            let hasher = DigestHasher(.sha256)
            hasher.update(begun.span)
            digest = (hasher, UInt64(begun.count))
            return
        }
        let body = writer.beginBody()
        self.body = body
        try body.append(begun.span)
    }

    /// Ends the exchange.
    /// - Parameter failure: how the exchange failed; the part of the response received so far is kept.
    /// - Throws: `unsearchable` for a body that cannot be searched and must not be kept unsearched. If such a body is truncated, it
    ///   is left out instead.
    @discardableResult
    package func finish(
        times: RecordedTimes, protocolName: [UInt8] = Array("HTTP/1.1".utf8), trailers: Fields = Fields(), chain: [UInt8]? = nil,
        failure: RecordedFailure? = nil
    ) throws(SnapshotError) -> RecordingOutcome {
        if let response { recorder.learn(response.fields) }
        for hints in response?.earlyHints ?? [] { recorder.learn(hints) }
        recorder.learn(trailers)
        let content = try finishBody(isBroken: failure != nil)
        isRedacted = try recorder.redact(&request, knownSince: knowledge) || isRedacted
        if response != nil {
            var trailers = trailers
            isRedacted = recorder.redact(&response!.fields) || isRedacted  // the code above checks `response`
            isRedacted = recorder.redact(&trailers) || isRedacted
            response?.trailers = trailers
            isRedacted = recorder.redact(&response!.earlyHints) || isRedacted  // the code above checks `response`
        }
        var recording = Recording(
            request: RecordedRequest(method: request.method, uri: request.uri, fields: request.fields),
            response: response, failure: failure, times: times, protocolName: protocolName,
            identity: try recorder.identity(of: request, response: response?.fields),
            generation: recorder.writer?.generation ?? 1)
        recording.isRedacted = isRedacted
        var unchanged: [Recording] = []
        if let former = recorder.former, let asked {
            switch try compare(recording, content, asked, with: former) {
            case .ended(let outcome): return outcome
            case .isKept(let before): unchanged = before
            }
        }
        guard let writer = recorder.writer else { return .unchanged }
        if let content { recording.response?.body = try writer.body(content) }
        switch request.body {
        case .none: break
        case .octets(let octets): recording.request.body = try writer.body(octets)
        // The pieces of this body are never delivered, so the digest of the whole body is used in place of the digests of its pieces.
        case .digest(let digest, let length):
            recording.request.body = RecordedBody(digest: digest, length: length, pieces: digest, isKept: false)
        }
        if let chain { recording.chain = try writer.chain(chain) }
        for answer in unchanged { try writer.append(try again(answer, to: recording)) }
        try writer.append(recording)
        bodyDigest = recording.response?.body?.digest
        return .recorded
    }

    /// The result of comparing a response with recordings.
    private enum Comparison {
        case ended(RecordingOutcome)
        /// - Parameter before: unchanged responses to the same request, received earlier in this run, which must be kept too.
        case isKept(before: [Recording])
    }

    private func compare(
        _ recording: Recording, _ content: [UInt8]?, _ asked: RequestToMatch, with former: RecordedAnswers
    ) throws(SnapshotError) -> Comparison {
        guard let answer = try former.answer(to: asked) else {
            guard recorder.writer == nil else { return .isKept(before: []) }
            bodyDigest = recording.response?.body?.digest
            return .ended(.differs(SnapshotDiff.Entry(.added, recording, nil)))
        }
        let difference = try former.difference(of: recording, body: content, from: answer)
        let isUnchanged = difference.aspects.isEmpty
        let recorded = answer.found.recording
        if recorder.writer != nil {
            // If one of several responses to a request is kept, all of them are kept, because a later generation replaces all earlier
            // responses.
            let group = RefreshedAnswers.Group(recorded: recorded.identity.key, secrets: recording.identity.secrets)
            guard isUnchanged, !answer.isOfSequence, recorder.refreshed.staysUnchanged(group) else {
                return .isKept(before: Array(repeating: recorded, count: recorder.refreshed.beginRecording(group)))
            }
        }
        bodyDigest = (isUnchanged ? recorded : recording).response?.body?.digest
        return .ended(isUnchanged ? .unchanged : .differs(SnapshotDiff.Entry(.changed, recording, difference)))
    }

    /// An earlier recording of the same request, moved to the generation of the new recording. Its bodies are already in the file,
    /// since a refresh appends to the file that has the earlier recording.
    private func again(_ recorded: Recording, to recording: Recording) throws(SnapshotError) -> Recording {
        var again = recorded
        // Placeholders in the request must be made with the project key of this run.
        again.request = recording.request
        again.identity = try recorder.identity(of: request, response: recorded.response?.fields)
        again.generation = recording.generation
        again.isRedacted = recorded.isRedacted || recording.isRedacted
        return again
    }

    /// - Returns: content that must still be written; `nil` if there is none. The response may already refer to this content by its
    ///   digest.
    private func finishBody(isBroken: Bool) throws(SnapshotError) -> [UInt8]? {
        guard var response else { return nil }
        var content: [UInt8]?
        if let body {
            response.body = try body.finish()
        } else if let digest {
            response.body = Self.unwritten(digest.hasher.finish().octets, digest.length)
        } else {
            switch recorder.body(held, describedBy: response.fields) {
            case .asItWas: content = held
            case .replaced(let text):
                content = text
                Redactor.describe(text, in: &response.fields)
                Redactor.describe(text, in: &response.trailers)
                // The body is truncated, so its complete length after the replacement of secrets is unknown.
                if isBroken { response.fields.remove(.contentLength) }
                isRedacted = true
            case .refused where isBroken: break
            case .refused: throw .unsearchable("the response of \(url)")
            }
            if content?.isEmpty ?? true { content = nil }
            // The digest is only needed if the response is compared before it is written.
            if let content, recorder.former != nil {
                response.body = Self.unwritten(Hashing.sha256(content), UInt64(content.count))
            }
        }
        self.response = response
        return content
    }

    private static func unwritten(_ digest: [UInt8], _ length: UInt64) -> RecordedBody? {
        SHA256Digest(digest).map { RecordedBody(digest: $0, length: length, pieces: $0, isKept: false) }
    }
}
