import HTTPCaching
import HTTPMessage
import ProxyCore
import ServerTrust
import Snapshots

/// Requests that recordings are to answer.
extension ExchangeDriver {
    func recall() {
        guard let layers = worker.settings.layers else { return recalled(.missed(.notRecorded, nearest: nil), from: nil) }
        let epoch = epoch
        let reply = loop.reply { [self] (answer: LayerAnswer) in
            guard self.epoch == epoch else { return }
            recalled(answer, from: layers)
            connection?.flush()
        }
        let query = RecordingQuery(
            request: requestToMatch(), scope: sequenceScope(of: layers), now: worker.now,
            wantsNearest: exchange.context.mode == .replay && !exchange.context.replaysStore)
        layers.find(query, searchLimit: worker.settings.proxyLimits.waitingSearches) { reply.send($0) }
    }

    private func recalled(_ answer: LayerAnswer, from layers: RecordingLayers?) {
        switch answer {
        case .found(.response(let stored), let layer, _, let body):
            exchange.recollection = .found(stored, layer: UInt8(clamping: layer))
            if let body, let layers { delivery.recorded = RecordedBodyPlace(layers: layers, layer: layer, body: body) }
        case .found(.failure(let failure), let layer, _, _):
            exchange.recollection = .failed(failure.kind.fault, layer: UInt8(clamping: layer))
        case .missed(let reason, let nearest):
            exchange.recollection = .missed(reason: reason.word, nearest: nearest)
        case .damaged: exchange.recollection = .damaged
        }
        handle(.recalled(at: worker.now))
        // Whatever was to be told of it has been.
        exchange.recollection = nil
    }

    /// The request as recordings know it: its content stands in `requestContent`.
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
        let body: RequestToMatch.Body = exchange.requestContent.isEmpty ? .none : .octets(exchange.requestContent)
        return RequestToMatch(method: method, uri: uri, fields: fields.alone, body: body)
    }

    private func sequenceScope(of layers: RecordingLayers) -> [UInt8] {
        switch layers.terms.scope {
        case .server: []
        case .user: exchange.user
        case .address: Array(peer.address.description.utf8)
        }
    }

    /// What recordings had to do with the request, for the log.
    func recordingMember() -> [UInt8] {
        let nearest: [UInt8] = if case .missed(_, let report?)? = exchange.recollection { report.summary } else { [] }
        switch exchange.trace.recording {
        case .replayed(let layer):
            return RecordingMember.members(layer: Array(exchange.context.layerName(layer).utf8), nearest: [])
        case .recorded: return RecordingMember.members(layer: Array("new".utf8), nearest: [])
        case .missed: return RecordingMember.members(layer: [], nearest: nearest)
        case .unrecorded, nil: return []
        }
    }
}

extension Fields {
    /// The same lines, over octets that hold nothing else.
    fileprivate var alone: Fields {
        var fields = Fields()
        fields.reserve(byteCount: bytes.count, lineCount: count)
        for line in lines { fields.append(name: name(of: line), value: value(of: line)) }
        return fields
    }
}

extension MissReason {
    var word: Word {
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
