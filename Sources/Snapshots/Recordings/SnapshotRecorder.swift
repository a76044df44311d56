import HTTPMessage
import HTTPSerialization
import SecretScanning
import ServerTrust

/// Records exchanges into a snapshot: takes out what concerns one connection alone, puts placeholders in the place of secrets, and says by what each
/// is found. Nothing is written before that. Confined to its writer's thread.
package final class SnapshotRecorder {
    /// `nil` where answers are only compared.
    package let writer: SnapshotWriter?
    /// With what answers are compared; `nil` where each is kept.
    fileprivate let former: RecordedAnswers?
    fileprivate var refreshed = RefreshedAnswers()
    private var redactor: Redactor
    /// The last recording that had been written when a secret became known: what was written before may hold it.
    private var lastBeforeKnowledge: Int64 = 0
    private let matcher: RequestMatcher
    private let key: ProjectKey

    /// - Parameters:
    ///   - unscanned: what becomes of a body that cannot be searched; `nil` refuses JSON and forms and keeps others.
    ///   - former: only what is not the same in these is kept.
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

    /// Compares, and writes nothing.
    package init(comparing former: RecordedAnswers, key: ProjectKey) throws(SnapshotError) {
        writer = nil
        self.former = former
        self.key = key
        redactor = try onSecretScanning { () throws(SecretScanningError) in
            try Redactor(key: key, secrets: former.terms.secrets, unscanned: .keep)
        }
        matcher = try RequestMatcher(former.terms)
    }

    /// Without its query, for people.
    static func shown(_ uri: [UInt8]) -> String {
        String(decoding: uri.prefix { $0 != ASCII.question }, as: UTF8.self)
    }

    /// Begins an exchange whose request is known whole.
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

    /// - Returns: whether anything was put out.
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

    /// Puts out what has become known since the request came.
    fileprivate func redact(_ request: inout RequestToMatch, knownSince knowledge: Int) throws(SnapshotError) -> Bool {
        guard redactor.knowledge > knowledge else { return false }
        return try redact(&request)
    }

    fileprivate func learn(_ fields: Fields) {
        redactor.learn(fields)
        noteKnowledge()
    }

    fileprivate func redact(_ fields: inout Fields) -> Bool { redactor.redact(&fields) }

    /// A placeholder may be longer than its secret: what goes past the limits is left out.
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

    /// Puts out of what was recorded in this run before what has become known since, and finishes the snapshot.
    /// - Returns: `nil` where answers are only compared.
    package func finish(signing key: SigningKey? = nil) throws(SnapshotError) -> SnapshotRoots? {
        try redactEarlier()
        return try writer?.finish(signing: key)
    }

    /// - Parameter isWhole: out of earlier generations too, where all of them are written anew.
    func redactEarlier(inAllGenerations isWhole: Bool = false) throws(SnapshotError) {
        try writer?.rewrite(upTo: lastBeforeKnowledge, inAllGenerations: isWhole) { [self] (recording) throws(SnapshotError) in
            try redacted(recording)
        }
    }

    /// - Returns: `nil` where nothing is known now that was not known then.
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

/// What has become of an exchange that was to be recorded.
package enum RecordingOutcome: Sendable {
    case recorded
    /// It was recorded before as it is now.
    case unchanged
    /// It is not kept, and is not what was recorded.
    case differs(SnapshotDiff.Entry)
}

/// One exchange on its way into a snapshot. The body comes in pieces; what is searched for secrets is held until it is whole, 8 MiB at most.
package final class ExchangeRecording {
    private let recorder: SnapshotRecorder
    private var request: RequestToMatch
    /// As it came; `nil` where nothing is compared.
    private var asked: RequestToMatch?
    private var response: RecordedResponse?
    /// What came before the response.
    private var earlyHints: [Fields] = []
    /// One of them went past the limits: those behind it are not kept either.
    private var hasTooManyHints = false
    private var isRedacted: Bool
    /// What was known to be secret when the request came.
    private let knowledge: Int
    /// What has come of a body that is still to be searched.
    private var held: [UInt8] = []
    /// Where it goes once it is too long to be searched.
    private var body: BodyWriter?
    /// What it comes to where nothing is written, once it is too long to be searched.
    private var digest: (hasher: DigestHasher, length: UInt64)?
    /// Of the response's content as it stands in the file once this has ended, or would stand there; `nil` where there is none, and where nothing
    /// was recorded. Of what is unchanged it is that of the recording that stays.
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

    /// The request's URI without its query, for people.
    package var url: String { SnapshotRecorder.shown(request.uri) }

    /// The request's content, where it is known only now: of one that is too long to be held.
    package func requestBody(_ body: RequestToMatch.Body) {
        request.body = body
        asked?.body = body
    }

    /// The fields of a 103 as it came, before the head of the final response. From the first that goes past the limits, none is kept.
    package func earlyHints(_ fields: Fields) {
        var fields = fields
        SnapshotRecorder.removeHopByHop(from: &fields)
        hasTooManyHints = hasTooManyHints || !EarlyHints.areWithinLimits(earlyHints + [fields])
        if !hasTooManyHints { earlyHints.append(fields) }
    }

    /// The head of the response as it came.
    package func head(status: Status, reason: [UInt8], fields: Fields) {
        var fields = fields
        SnapshotRecorder.removeHopByHop(from: &fields)
        response = RecordedResponse(status: status, reason: reason, fields: fields, earlyHints: earlyHints)
    }

    /// The next bytes of the response's body, without its transfer coding.
    /// - Throws: `unsearchable` where it becomes too long to be searched and is not to be kept then; this exchange is not recorded.
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

    /// The exchange ends here.
    /// - Parameter failure: how it failed; what came of the response stays.
    /// - Throws: `unsearchable` for a body that cannot be searched and is not to be kept then. Of one that broke off only the failure is kept.
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
            isRedacted = recorder.redact(&response!.fields) || isRedacted  // asked for right above
            isRedacted = recorder.redact(&trailers) || isRedacted
            response?.trailers = trailers
            isRedacted = recorder.redact(&response!.earlyHints) || isRedacted  // asked for right above
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
        // Its pieces are never delivered: its digest stands for theirs.
        case .digest(let digest, let length):
            recording.request.body = RecordedBody(digest: digest, length: length, pieces: digest, isKept: false)
        }
        if let chain { recording.chain = try writer.chain(chain) }
        for answer in unchanged { try writer.append(try again(answer, to: recording)) }
        try writer.append(recording)
        bodyDigest = recording.response?.body?.digest
        return .recorded
    }

    /// What a comparison with what was recorded comes to.
    private enum Comparison {
        case ended(RecordingOutcome)
        /// - Parameter before: what answered the same request before in this run, was unchanged, and is to be kept with it.
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
            // Of several answers to one request all are kept anew: those of a later generation take the place of all before.
            let group = RefreshedAnswers.Group(recorded: recorded.identity.key, secrets: recording.identity.secrets)
            guard isUnchanged, !answer.isOfSequence, recorder.refreshed.staysUnchanged(group) else {
                return .isKept(before: Array(repeating: recorded, count: recorder.refreshed.beginRecording(group)))
            }
        }
        bodyDigest = (isUnchanged ? recorded : recording).response?.body?.digest
        return .ended(isUnchanged ? .unchanged : .differs(SnapshotDiff.Entry(.changed, recording, difference)))
    }

    /// What was recorded of the same request, in the generation of this one. Its bodies stand in the file, which is the one that is refreshed.
    private func again(_ recorded: Recording, to recording: Recording) throws(SnapshotError) -> Recording {
        var again = recorded
        // Placeholders in it are of the key of this run.
        again.request = recording.request
        again.identity = try recorder.identity(of: request, response: recorded.response?.fields)
        again.generation = recording.generation
        again.isRedacted = recorded.isRedacted || recording.isRedacted
        return again
    }

    /// - Returns: the content that is still to be written, and that stands by its digest in the response meanwhile; `nil` where none is.
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
                // Of the whole nobody knows how long it would have become.
                if isBroken { response.fields.remove(.contentLength) }
                isRedacted = true
            case .refused where isBroken: break
            case .refused: throw .unsearchable("the response of \(url)")
            }
            if content?.isEmpty ?? true { content = nil }
            // Only where it is compared before it is written.
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
