import ProxyCore
import ResponseStore
import ServerTrust
import Snapshots

/// The files of the replay sources as opened by one thread, and the positions of each session in recorded sequences. Confined to its
/// thread.
final class ReplayReader {
    private let terms: ReplaySources.Terms
    private let layers: [SnapshotLayer]
    private var searches: [NearMissSearch?]
    private var cursors: [[UInt8]: SequenceCursors] = [:]
    private var readers: [SHA256Digest: BodyReader] = [:]

    /// Opens the files.
    init(_ terms: ReplaySources.Terms) throws(ReplaySourceError) {
        self.terms = terms
        var layers: [SnapshotLayer] = []
        for (number, path) in terms.files.enumerated() {
            do throws(SnapshotError) {
                let snapshot = try Snapshot(path: path, signedBy: terms.signers)
                layers.append(try SnapshotLayer(snapshot, number: number, key: terms.key, asOf: terms.asOf, end: terms.end))
            } catch {
                throw ReplaySourceError(path: path, reason: error.description)
            }
        }
        do throws(SnapshotError) {
            try terms.asOf.check(layers.map(\.snapshot))
        } catch {
            throw ReplaySourceError(path: terms.files.joined(separator: ", "), reason: "\(error) (replay.as_of)")
        }
        self.layers = layers
        searches = Array(repeating: nil, count: layers.count)
    }

    /// The number of recordings in each file.
    var counts: [Int] { layers.map(\.snapshot.count) }

    /// Whether a request was matched without comparing its secrets, because there is no key.
    var hasMatchedAnySecret: Bool { layers.contains(where: \.hasMatchedAnySecret) }

    func find(_ query: RecordingQuery) -> LayerAnswer {
        if cursors.count >= terms.limits.sessions, cursors[query.scope] == nil { cursors.removeAll() }
        var reason = MissReason.notRecorded
        do throws(SnapshotError) {
            for (number, layer) in layers.enumerated() {
                switch try layer.find(query.request, &cursors[query.scope, default: SequenceCursors()]) {
                case .found(let found):
                    if found.recording.failure != nil, terms.failures == .miss { continue }
                    guard let replayed = try layer.replayed(found, to: query.request, at: query.now, terms.replay) else {
                        return .damaged
                    }
                    let place = AnswerPlace(
                        layer: number, place: found.place, body: replayed.body, digest: replayed.digest,
                        earlyHints: replayed.earlyHints)
                    return .found(replayed.response, place)
                case .missed(let why): if reason == .notRecorded { reason = why }
                }
            }
        } catch {
            return .damaged
        }
        return .missed(reason, nearest: nil)
    }

    func nearest(to query: RecordingQuery, missedFor reason: MissReason) -> NearMissReport? {
        var found: [NearMiss] = []
        for (number, layer) in layers.enumerated() {
            do throws(SnapshotError) {
                if searches[number] == nil { searches[number] = try NearMissSearch(layer.snapshot, key: terms.key) }
                if let search = searches[number] { found += try search.nearest(to: query.request) }
            } catch {
                // The request that found the damage has already reported it.
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
