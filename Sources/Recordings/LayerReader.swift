import HTTPCaching
import HTTPMessage
import HTTPSerialization
import ProxyCore
import ResponseStore
import ServerTrust
import Snapshots

/// The files of the layers as one thread has them open, and how far each session has come in its sequences. Confined to its thread.
final class LayerReader {
    private let terms: RecordingLayers.Terms
    private let layers: [SnapshotLayer]
    private var searches: [NearMissSearch?]
    private var cursors: [[UInt8]: SequenceCursors] = [:]
    private var readers: [SHA256Digest: BodyReader] = [:]

    /// Opens the files.
    init(_ terms: RecordingLayers.Terms) throws(LayerFault) {
        self.terms = terms
        var layers: [SnapshotLayer] = []
        for (number, path) in terms.files.enumerated() {
            do throws(SnapshotError) {
                let snapshot = try Snapshot(path: path, signedBy: terms.signers)
                layers.append(try SnapshotLayer(snapshot, number: number, key: terms.key, asOf: terms.asOf, end: terms.end))
            } catch {
                throw LayerFault(path: path, reason: error.description)
            }
        }
        do throws(SnapshotError) {
            try terms.asOf.check(layers.map(\.snapshot))
        } catch {
            throw LayerFault(path: terms.files.joined(separator: ", "), reason: "\(error) (replay.as_of)")
        }
        self.layers = layers
        searches = Array(repeating: nil, count: layers.count)
    }

    /// How many recordings each file has.
    var counts: [Int] { layers.map(\.snapshot.count) }

    /// Whether some request was answered whose secrets could not be compared, since there is no key.
    var hasMatchedAnySecret: Bool { layers.contains(where: \.hasMatchedAnySecret) }

    func find(_ query: RecordingQuery) -> LayerAnswer {
        if cursors.count >= terms.limits.sessions, cursors[query.scope] == nil { cursors.removeAll() }
        var reason = MissReason.notRecorded
        do throws(SnapshotError) {
            for (number, layer) in layers.enumerated() {
                switch try layer.find(query.request, &cursors[query.scope, default: SequenceCursors()]) {
                case .found(let found):
                    if found.recording.failure != nil, terms.failures == .miss { continue }
                    return try answer(terms.movesDates ? found.moved(to: query.now) : found, from: layer, number, query)
                case .missed(let why): if reason == .notRecorded { reason = why }
                }
            }
        } catch {
            return .damaged
        }
        return .missed(reason, nearest: nil)
    }

    private func answer(
        _ found: FoundRecording, from layer: SnapshotLayer, _ number: Int, _ query: RecordingQuery
    ) throws(SnapshotError) -> LayerAnswer {
        if let failure = found.recording.failure { return broken(found, by: failure, number, query) }
        let recorded = found.recording.response?.body
        var body = StoredBody.bytes([])
        var later: RecordedBody?
        if let recorded {
            if recorded.length <= terms.limits.wholeLength {
                body = .bytes(try layer.snapshot.octets(of: recorded))
            } else {
                body = .onDisk(BodyReference(id: 0, length: recorded.length))
                later = recorded
            }
        }
        var found = found
        if let recorded, recorded.length <= terms.limits.decodedLength, !layer.matcher.terms.isExact,
            let fields = found.recording.response?.fields,
            !AcceptedCodings(query.request.fields).permit(ContentCodings(of: fields), of: fields)
        {
            let octets = try layer.snapshot.octets(of: recorded)
            if let (plain, decoded) = found.decoded(octets, lengthLimit: terms.limits.decodedLength) {
                found = plain
                body = .bytes(decoded)
                later = nil
            }
        }
        // To a HEAD, its length is all that is told of a body.
        var isLengthTold = true
        if query.request.method == Array("HEAD".utf8), !found.isFromGet {
            let length = found.recording.response?.toldLength
            isLengthTold = length != nil
            if let length { body = .onDisk(BodyReference(id: 0, length: length)) }
            later = nil
        }
        guard let stored = found.storedResponse(at: query.now, body: body) else { return .damaged }
        // What is dated when it is given is another one the next time.
        let isLasting = isLengthTold && found.sequenceLength == 1 && terms.end != .error && !terms.movesDates
        return .found(
            .response(stored, isLengthTold: isLengthTold, isLasting: isLasting),
            AnswerPlace(
                layer: number, place: found.place, body: later, digest: recorded?.digest,
                earlyHints: found.recording.response?.earlyHints ?? []))
    }

    /// What had come of the answer comes again, and ends where it ended.
    private func broken(
        _ found: FoundRecording, by failure: RecordedFailure, _ number: Int, _ query: RecordingQuery
    ) -> LayerAnswer {
        let body = found.recording.response?.body
        let reference = BodyReference(id: 0, length: body?.length ?? 0)
        guard let stored = found.storedResponse(at: query.now, body: .onDisk(reference)) else {
            return .found(.failure(failure), AnswerPlace(layer: number, place: found.place, body: nil, digest: nil))
        }
        let length: BodyLength = found.recording.response?.toldLength.map { .known($0) } ?? .unknown
        return .found(
            .broken(stored, length, failure),
            AnswerPlace(
                layer: number, place: found.place, body: body, digest: body?.digest,
                earlyHints: found.recording.response?.earlyHints ?? []))
    }

    func nearest(to query: RecordingQuery, missedFor reason: MissReason) -> NearMissReport? {
        var found: [NearMiss] = []
        for (number, layer) in layers.enumerated() {
            do throws(SnapshotError) {
                if searches[number] == nil { searches[number] = try NearMissSearch(layer.snapshot, key: terms.key) }
                if let search = searches[number] { found += try search.nearest(to: query.request) }
            } catch {
                // What is damaged was told to whoever asked for it.
                continue
            }
        }
        return NearMissReport(found, reason)
    }

    func read(_ body: RecordedBody, ofLayer layer: Int, at offset: UInt64) -> BodyReadResult {
        do throws(SnapshotError) {
            let reader: BodyReader
            if let known = readers[body.digest] {
                reader = known
            } else {
                reader = try layers[layer].snapshot.body(body)
                if readers.count >= terms.limits.openBodies { readers.removeAll() }
                readers[body.digest] = reader
            }
            guard offset < body.length else { return .failed }
            let start = reader.seek(to: offset)
            guard let piece = try reader.next() else { return .failed }
            return .bytes(piece, min(piece.count, Int(offset - start))..<piece.count)
        } catch {
            return .failed
        }
    }

    func rewind() { cursors.removeAll() }
}

/// What a recording gives a client.
package enum ReplayedResponse: Sendable {
    /// - Parameters:
    ///   - isLengthTold: the answer to a HEAD may tell none.
    ///   - isLasting: whoever asks the same gets the same.
    case response(StoredResponse, isLengthTold: Bool, isLasting: Bool)
    /// Its content breaks off.
    /// - Parameter length: what its head has said of it.
    case broken(StoredResponse, BodyLength, RecordedFailure)
    case failure(RecordedFailure)
}

extension RecordedResponse {
    /// What its Content-Length says.
    fileprivate var toldLength: UInt64? {
        guard let line = fields.first(.contentLength) else { return nil }
        return UInt64(String(decoding: fields.bytes[line.value.range], as: UTF8.self))
    }
}
