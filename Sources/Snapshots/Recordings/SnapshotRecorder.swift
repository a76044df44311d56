import HTTPMessage
import ServerTrust

/// Records exchanges into a snapshot: takes out what concerns one connection alone, puts placeholders in the place of secrets, and says by what each
/// is found. Nothing is written before that. Confined to its writer's thread.
package final class SnapshotRecorder {
    package let writer: SnapshotWriter
    private let redactor: Redactor
    private let matcher: RequestMatcher
    private let key: ProjectKey

    /// - Parameter unscanned: what becomes of a body that cannot be searched; `nil` refuses JSON and forms and keeps others.
    package init(_ writer: SnapshotWriter, key: ProjectKey, unscanned: Redactor.Unscanned? = nil) throws(SnapshotError) {
        self.writer = writer
        self.key = key
        redactor = Redactor(key: key, terms: writer.manifest.terms, unscanned: unscanned)
        matcher = try RequestMatcher(writer.manifest.terms)
    }

    /// Begins an exchange whose request is known whole.
    /// - Throws: `holdsSecrets` for a body that is not kept because it cannot be searched.
    package func begin(_ request: RequestToMatch) throws(SnapshotError) -> ExchangeRecording {
        var request = request
        var isRedacted = false
        Self.removeHopByHop(from: &request.fields)
        if case .octets(let octets) = request.body {
            switch redactor.body(octets, describedBy: request.fields) {
            case .asItWas: break
            case .replaced(let text):
                request.body = .octets(text)
                Redactor.describe(text, in: &request.fields)
                isRedacted = true
            case .refused: throw .holdsSecrets("the body of a request cannot be searched")
            }
        }
        let uri = redactor.redacted(request.uri)
        isRedacted = uri != request.uri || isRedacted
        request.uri = uri
        isRedacted = redactor.redact(&request.fields) || isRedacted
        return ExchangeRecording(self, request, isRedacted: isRedacted)
    }

    static func removeHopByHop(from fields: inout Fields) {
        let hopByHop = HopByHop(of: fields)
        fields.remove { fields, line in hopByHop.contains(line, of: fields) }
    }

    fileprivate func redact(_ fields: inout Fields) -> Bool { redactor.redact(&fields) }
    fileprivate func body(_ octets: [UInt8], describedBy fields: Fields) -> Redactor.Body {
        redactor.body(octets, describedBy: fields)
    }
    fileprivate func unsearched(describedBy fields: Fields) -> Redactor.Body { redactor.unsearched(describedBy: fields) }

    fileprivate func identity(of request: RequestToMatch, response: Fields?) throws(SnapshotError) -> RequestIdentity {
        guard let identity = matcher.identity(of: request, response: response, under: key) else {
            preconditionFailure("under a key every request has an identity")
        }
        return identity
    }
}

/// One exchange on its way into a snapshot. The body comes in pieces; what is searched for secrets is held until it is whole, 8 MiB at most.
package final class ExchangeRecording {
    private let recorder: SnapshotRecorder
    private var request: RequestToMatch
    private var response: RecordedResponse?
    private var isRedacted: Bool
    /// What has come of a body that is still to be searched.
    private var held: [UInt8] = []
    /// Where it goes once it is too long to be searched.
    private var body: BodyWriter?

    fileprivate init(_ recorder: SnapshotRecorder, _ request: RequestToMatch, isRedacted: Bool) {
        self.recorder = recorder
        self.request = request
        self.isRedacted = isRedacted
    }

    /// The head of the response as it came.
    package func head(status: Status, reason: [UInt8], fields: Fields) {
        var fields = fields
        SnapshotRecorder.removeHopByHop(from: &fields)
        response = RecordedResponse(status: status, reason: reason, fields: fields)
    }

    /// The next octets of the response's body, without its transfer coding.
    /// - Throws: `holdsSecrets` where it becomes too long to be searched and is not to be kept then; this exchange is not recorded.
    package func append(_ octets: Span<UInt8>) throws(SnapshotError) {
        if let body { return try body.append(octets) }
        held.append(octets)
        guard held.count > SnapshotLimits.requestBodyLength else { return }
        guard recorder.unsearched(describedBy: response?.fields ?? Fields()) == .asItWas else {
            throw .holdsSecrets("the body of a response is too long to be searched")
        }
        let body = recorder.writer.beginBody()
        self.body = body
        let begun = held
        held = []
        try body.append(begun.span)
    }

    /// The exchange ends here.
    /// - Parameter failure: how it failed; what came of the response stays.
    /// - Throws: `holdsSecrets` for a body that cannot be searched and is not to be kept then.
    package func finish(
        times: RecordedTimes, protocolName: [UInt8] = Array("HTTP/1.1".utf8), trailers: Fields = Fields(), chain: [UInt8]? = nil,
        failure: RecordedFailure? = nil
    ) throws(SnapshotError) {
        try finishBody()
        if response != nil {
            var trailers = trailers
            isRedacted = recorder.redact(&response!.fields) || isRedacted  // asked for right above
            isRedacted = recorder.redact(&trailers) || isRedacted
            response?.trailers = trailers
        }
        let writer = recorder.writer
        var requestBody: RecordedBody?
        switch request.body {
        case .none: break
        case .octets(let octets): requestBody = try writer.body(octets)
        // Its pieces are never delivered: its digest stands for theirs.
        case .digest(let digest, let length):
            requestBody = RecordedBody(digest: digest, length: length, pieces: digest, isKept: false)
        }
        var chainDigest: SHA256Digest?
        if let chain { chainDigest = try writer.chain(chain) }
        var recording = Recording(
            request: RecordedRequest(method: request.method, uri: request.uri, fields: request.fields, body: requestBody),
            response: response, failure: failure, times: times, protocolName: protocolName,
            chain: chainDigest,
            identity: try recorder.identity(of: request, response: response?.fields), generation: writer.generation)
        recording.isRedacted = isRedacted
        try writer.append(recording)
    }

    private func finishBody() throws(SnapshotError) {
        guard var response else { return }
        if let body {
            response.body = try body.finish()
        } else {
            switch recorder.body(held, describedBy: response.fields) {
            case .asItWas: response.body = try recorder.writer.body(held)
            case .replaced(let text):
                response.body = try recorder.writer.body(text)
                Redactor.describe(text, in: &response.fields)
                isRedacted = true
            case .refused: throw .holdsSecrets("the body of a response cannot be searched")
            }
        }
        self.response = response
    }
}
