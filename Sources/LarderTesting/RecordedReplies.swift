import EventLoop
import HTTPCaching
import HTTPMessage
import LarderHTTP
import Snapshots

/// The replies of one recording.
final class RecordedReplies: Sendable {
    private struct Source {
        let layer: SnapshotLayer
        var cursors = SequenceCursors()
    }

    private let path: String
    private let source: Guarded<Source>

    /// A longer body is not replayed.
    private static let bodyLimit: UInt64 = 256 << 20

    init(_ path: String) throws(ScriptFailure) {
        self.path = path
        do throws(SnapshotError) {
            source = Guarded(Source(layer: try SnapshotLayer(Snapshot(path: path), key: nil)))
        } catch {
            throw ScriptFailure(description: "\(path) cannot be replayed: \(error)")
        }
    }

    /// - Returns: `nil` if the recording has no response to the request.
    func reply(to request: SentRequest) -> ScriptedReply? {
        let uri = Array(request.uri.description.utf8)
        guard let head = RequestHead(uri: uri.span, method: .get) else { return nil }
        var fields = Fields()
        for (name, value) in request.fields { fields.append(name: name, value: value) }
        let wanted = RequestToMatch(
            method: Array(request.method.name.utf8), uri: CacheKey(of: head).bytes, fields: fields,
            body: request.body.isEmpty ? .none : .octets(request.body))
        return source.withLock { source in
            do throws(SnapshotError) { return try Self.reply(to: wanted, &source) } catch {
                return .failure(.responseSerialization, "the recording \(path) cannot be read: \(error)")
            }
        }
    }

    private static func reply(to wanted: RequestToMatch, _ source: inout Source) throws(SnapshotError) -> ScriptedReply? {
        let layer = source.layer
        guard case .found(let found) = try layer.find(wanted, &source.cursors) else { return nil }
        let terms = ReplayTerms(wholeLength: bodyLimit, decodedLength: bodyLimit, movesDates: false)
        guard let replayed = try layer.replayed(found, to: wanted, at: found.recording.times.started, terms) else { return nil }
        switch replayed.response {
        case .response(let stored, _, _): return try reply(stored, replayed.body, of: layer)
        case .broken(let stored, let length, _):
            let part = try reply(stored, replayed.body, of: layer)
            var reply = part.cut(after: part.body.count)
            if length == nil { reply.fields.remove("Content-Length") }
            return reply
        case .failure(let failure):
            switch failure.kind {
            case .refused: return .failure(.connectionRefused, failure.code)
            case .timedOut: return .failing(.timedOut(.firstByte))
            case .malformed: return .failure(.malformedResponse, failure.code)
            case .cutShort: return .failure(.connectionTerminated, failure.code)
            }
        }
    }

    private static func reply(
        _ stored: StoredResponse, _ later: RecordedBody?, of layer: SnapshotLayer
    ) throws(SnapshotError) -> ScriptedReply {
        var reply = ScriptedReply(Int(stored.head.status.code), fields: SessionFields(of: stored.head.fields))
        if let later {
            reply.body = try layer.snapshot.octets(of: later, limit: Int(bodyLimit))
        } else if case .bytes(let octets) = stored.body {
            reply.body = octets
        }
        reply.trailers = SessionFields(of: stored.trailers)
        return reply
    }
}

extension SessionFields {
    fileprivate init(of fields: Fields) {
        self.init()
        for line in fields.lines { append(fields.text(of: line.name), fields.text(of: line.value)) }
    }
}
