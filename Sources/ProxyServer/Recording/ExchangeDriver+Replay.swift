import AccessLog
import HTTPCaching
import HTTPMessage
import ProxyCore
import Recordings
import ServerTrust
import Snapshots

/// Requests that recordings are to answer.
extension ExchangeDriver {
    func lookUpRecording() {
        guard let layers = recordings?.layers else { return recordingLookedUp(.missed(.notRecorded, nearest: nil), from: nil) }
        if let known = rememberedAnswer { return recordingLookedUp(known, from: layers) }
        let epoch = epoch
        let reply = loop.reply { [self] (answer: LayerAnswer) in
            guard self.epoch == epoch else { return }
            delivery.recordingMember = recordingMember(of: answer, in: layers)
            remember(answer)
            recordingLookedUp(answer, from: layers)
            connection?.flush()
        }
        let wantsNearest = exchange.mode == .replay && !exchange.context.replaysStore
        layers.find(recordingQuery(of: layers, wantsNearest: wantsNearest), searchLimit: searchLimit) { reply.send($0) }
    }

    func findNearest() {
        guard let layers = recordings?.layers else { return foundNearest(nil) }
        let epoch = epoch
        let reply = loop.reply { [self] (nearest: NearMissReport?) in
            guard self.epoch == epoch else { return }
            foundNearest(nearest)
            connection?.flush()
        }
        layers.findNearest(recordingQuery(of: layers, wantsNearest: true), searchLimit: searchLimit) { reply.send($0) }
    }

    private func foundNearest(_ nearest: NearMissReport?) {
        handle(.nearestFound(nearest, at: worker.now))
    }

    private var searchLimit: Int { exchange.context.limits.waitingSearches }

    private func recordingQuery(of layers: ReplaySources, wantsNearest: Bool) -> RecordingQuery {
        RecordingQuery(
            request: requestToMatch(), scope: sequenceScope(of: layers), now: worker.now, wantsNearest: wantsNearest)
    }

    /// What is remembered is of the active settings, and is told by the head alone.
    private var isRemembered: Bool {
        recordings === worker.recordings && upload.content.isEmpty && longContent == nil
            && !exchange.obligations.rewritesKey
    }

    private var rememberedAnswer: ReplayedAnswer? {
        guard let memory = worker.replayMemory, isRemembered else { return nil }
        let head = exchange.request.fields.bytes
        let uri = exchange.key
        return memory.answer(to: head.span, uri: uri.span)
    }

    private func remember(_ answer: LayerAnswer) {
        guard case .found(.response(let stored, _, isLasting: true), let place) = answer, isRemembered else { return }
        let head = exchange.request.fields.bytes
        let uri = exchange.key
        worker.remember(
            ReplayedAnswer(head: head.span, uri: uri.span, stored, place, logMember: delivery.recordingMember))
    }

    private func recordingMember(of answer: LayerAnswer, in layers: ReplaySources) -> [UInt8] {
        guard accessLog.tellsMembers, case .found(_, let place) = answer else { return [] }
        return RecordingMember.members(layer: Array(layers.names[place.layer].utf8), digest: place.digest)
    }

    private func recordingLookedUp(_ known: ReplayedAnswer, from layers: ReplaySources) {
        delivery.recordingMember = known.logMember
        sendEarlyHints(known.earlyHints)
        if let body = known.body { delivery.recorded = RecordedBodyPlace(layers: layers, layer: known.layer, body: body) }
        handle(.recordingFound(known.stored, isLengthTold: true, layer: UInt8(clamping: known.layer), at: now))
    }

    /// They come before the final response, as they came from the origin (RFC 8297 §2).
    private func sendEarlyHints(_ hints: [Fields]) {
        for fields in hints {
            var head = ResponseHead()
            head.status = .earlyHints
            head.fields = fields
            sendInformational(head)
        }
    }

    private func recordingLookedUp(_ answer: LayerAnswer, from layers: ReplaySources?) {
        if case .found(_, let place) = answer { sendEarlyHints(place.earlyHints) }
        let replayLookup: ReplayLookup
        switch answer {
        case .found(.response(let stored, let isLengthTold, _), let place):
            if let body = place.body, let layers {
                delivery.recorded = RecordedBodyPlace(layers: layers, layer: place.layer, body: body)
            }
            return handle(
                .recordingFound(
                    stored, isLengthTold: isLengthTold, layer: UInt8(clamping: place.layer), at: worker.now))
        case .found(.broken(let stored, let toldLength, let failure), let place):
            replayLookup = .broken(
                stored, length: toldLength.map { .known($0) } ?? .unknown, by: failure.kind.fault,
                layer: UInt8(clamping: place.layer))
            if let layers { delivery.recorded = RecordedBodyPlace(layers: layers, layer: place.layer, body: place.body) }
        case .found(.failure(let failure), let place):
            replayLookup = .failed(failure.kind.fault, layer: UInt8(clamping: place.layer))
        case .missed(let reason, let nearest):
            replayLookup = .missed(reason: reason.word, nearest: nearest)
        case .damaged: replayLookup = .damaged
        }
        handle(.recordingLookedUp(replayLookup, at: worker.now))
    }

    /// The request as recordings know it: its content stands in `upload.content`, or its digest in `longContent`.
    func requestToMatch() -> RequestToMatch {
        var uri: [UInt8] = []
        var method: [UInt8] = []
        var fields = Fields()
        exchange.withHeads { request, _ in
            CacheKey.write(request, into: &uri)
            let name = request.span(of: request.methodName)
            for index in name.indices { method.append(name[index]) }
            fields = request.fields
        }
        return RequestToMatch(method: method, uri: uri, fields: fields.alone, body: contentToMatch)
    }

    private var contentToMatch: RequestToMatch.Body {
        if upload.isComplete, let body = longContent?.body(length: upload.receivedCount) { return body }
        return upload.content.isEmpty ? .none : .octets(upload.content)
    }

    private func sequenceScope(of layers: ReplaySources) -> [UInt8] {
        switch layers.terms.scope {
        case .server: []
        case .user: exchange.incoming.sender?.user ?? []
        case .address: Array(peer.address.description.utf8)
        }
    }

    /// What recordings had to do with the request, for the log.
    func recordingMember() -> [UInt8] {
        let nearest: [UInt8] = if case .missed(_, let report?)? = exchange.replayLookup { report.summary } else { [] }
        switch exchange.trace.recording {
        case .replayed: return delivery.recordingMember
        case .recorded: return RecordingMember.members(layer: Array("new".utf8))
        case .missed: return RecordingMember.members(nearest: nearest)
        case nil: return []
        }
    }
}

extension Fields {
    /// The same lines, over bytes that hold nothing else.
    var alone: Fields {
        var fields = Fields()
        fields.reserve(byteCount: bytes.count, lineCount: count)
        for line in lines { fields.append(name: name(of: line), value: value(of: line)) }
        return fields
    }
}

extension MissReason {
    var word: StaticToken {
        switch self {
        case .notRecorded: "not_recorded"
        case .varies: "varies"
        case .otherSecret: "other_secret"
        case .later: "later"
        case .exhausted: "exhausted"
        }
    }
}

extension RecordedFailure.Kind {
    /// As it is given again.
    var fault: Fault {
        switch self {
        case .cutShort: .responseIncomplete
        case .refused: .connectionRefused
        case .timedOut: .responseTimeout(phase: "recorded")
        case .malformed: .malformedResponse(detail: "recorded")
        }
    }
}
