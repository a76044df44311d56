import EventLoop
import HTTPMessage
import ProxyCore
import ResponseStore
import SecretScanning
import ServerTrust
import Snapshots
import Synchronization

/// The recordings that are replayed, in order of precedence: finished snapshots, opened for reading.
///
/// One thread looks up recordings in the files, reads bodies and keeps the positions in sequences. A second thread has the same files
/// open for the slower search for near misses. The methods can be called from any thread.
package final class ReplaySources: Sendable {
    /// How recordings are replayed.
    package struct Terms: Sendable {
        /// The paths of finished snapshots; at most 255, which the settings enforce.
        package var files: [String] = []
        /// The project key; without one, any value matches a secret.
        package var key: ProjectKey?
        /// Each file must be signed by at least one of these keys; empty if no signature is required.
        package var signers: [VerifyingKey] = []
        package var asOf = AsOf.newest
        /// What replay does after the last response of a sequence.
        package var end = SequenceEnd.loop
        package var scope = SequenceScope.server
        package var failures = FailureReplay.same
        /// Whether dates are shifted as if the response had been recorded at delivery.
        package var movesDates = false
        package var limits = Limits()

        package init() {}

        var replay: ReplayTerms {
            ReplayTerms(wholeLength: limits.wholeLength, decodedLength: limits.decodedLength, movesDates: movesDates)
        }
    }

    /// Limits on memory and open files of the thread that reads the files.
    package struct Limits: Sendable {
        /// A body of up to this many bytes is read at once; a longer body is read in pieces. Each client that receives a body holds at
        /// most one such buffer in memory.
        package var wholeLength: UInt64 = 1 << 20
        /// The maximum length, encoded and decoded, of a body that is decoded for a client that does not accept its codings, in bytes. The
        /// thread that reads the files decodes it, while other requests wait. A longer body keeps its codings.
        package var decodedLength: UInt64 = 8 << 20
        /// The maximum number of sessions with their own sequence positions; beyond that number, all sessions start again.
        package var sessions = 4096
        /// The maximum number of bodies that stay open while read in pieces. Others are opened again for each piece.
        package var openBodies = 64

        package init() {}
    }

    /// Which clients share sequence positions.
    package enum SequenceScope: String, Sendable, CaseIterable {
        /// All clients share the sequence positions.
        case server
        /// Clients with the same user name share sequence positions.
        case user
        /// Clients with the same address share sequence positions.
        case address
    }

    /// How replay answers a request whose exchange failed when it was recorded.
    package enum FailureReplay: String, Sendable, CaseIterable { case same, miss }

    /// The names of the files for users: the last component of each path.
    package let names: [String]
    /// The number of recordings in each file.
    package let counts: [Int]
    package let terms: Terms
    private let reader: LoopThread
    private let searcher: LoopThread
    private let waitingSearches = Atomic<Int>(0)
    private let used: Guarded<[Set<Int>]>
    private let anySecret = Atomic<Bool>(false)

    /// - Throws: an error for the first file that cannot be replayed, or for a thread that could not be started.
    package init(_ terms: Terms) throws(ReplaySourceError) {
        self.terms = terms
        names = terms.files.map(Self.name)
        used = Guarded(Array(repeating: [], count: terms.files.count))
        // Each thread has its own open files.
        let layers = try ReplayReader(terms)
        counts = layers.counts
        reader = try Self.thread(named: "replay", with: layers)
        searcher = try Self.thread(named: "near-misses", with: ReplayReader(terms))
    }

    private static func thread(named name: String, with layers: sending ReplayReader) throws(ReplaySourceError) -> LoopThread {
        let handedOver = Guarded<ReplayReader?>(layers)
        do throws(SystemError) {
            return try LoopThread(name: name) { loop in
                loop.owner = handedOver.withLock { layers in
                    let taken = layers
                    layers = nil
                    return taken
                }
            }
        } catch {
            throw ReplaySourceError(path: "", reason: "cannot start a thread that reads the snapshots: \(error)")
        }
    }

    deinit {
        reader.handle.stop()
        searcher.handle.stop()
        // One of the two threads may run this code, if it releases the last reference. That thread then ends by itself.
        _ = reader.join(withinMilliseconds: 1000)
        _ = searcher.join(withinMilliseconds: 1000)
    }

    /// The file name with only characters allowed in a quoted string, at most 64 bytes.
    static func name(of path: String) -> String {
        let last = path.split(separator: "/").last.map(String.init) ?? path
        let octets = last.utf8.map { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C ? $0 : UInt8(ascii: "_") }
        return String(decoding: octets.prefix(64), as: UTF8.self)
    }

    /// Whether a request was matched without comparing its secrets, because there is no key.
    package var hasMatchedAnySecret: Bool { anySecret.load(ordering: .relaxed) }

    /// Looks up the recording that answers a request.
    /// - Parameters:
    ///   - searchLimit: the maximum number of waiting searches for near misses.
    ///   - answer: called on any thread.
    package func find(_ query: RecordingQuery, searchLimit: Int, _ answer: @escaping @Sendable (LayerAnswer) -> Void) {
        let isTaken = reader.handle.post { [self] loop in
            guard let layers = loop.owner as? ReplayReader else { return answer(.damaged) }
            let found = layers.find(query)
            if layers.hasMatchedAnySecret { anySecret.store(true, ordering: .relaxed) }
            if case .found(_, let place) = found { _ = used.withLock { $0[place.layer].insert(place.place).inserted } }
            guard case .missed(let reason, _) = found, query.wantsNearest else { return answer(found) }
            search(query, reason, limit: searchLimit, answer)
        }
        if !isTaken { answer(.damaged) }
    }

    /// Searches for recordings near to a request without a match.
    /// - Parameter answer: called on any thread; with `nil` if too many searches are waiting.
    package func findNearest(_ query: RecordingQuery, searchLimit: Int, _ answer: @escaping @Sendable (NearMissReport?) -> Void) {
        search(query, .notRecorded, limit: searchLimit) { found in
            if case .missed(_, let nearest) = found { answer(nearest) } else { answer(nil) }
        }
    }

    private func search(
        _ query: RecordingQuery, _ reason: MissReason, limit: Int, _ answer: @escaping @Sendable (LayerAnswer) -> Void
    ) {
        guard waitingSearches.add(1, ordering: .relaxed).newValue <= limit else {
            waitingSearches.subtract(1, ordering: .relaxed)
            return answer(.missed(reason, nearest: nil))
        }
        let isTaken = searcher.handle.post { [self] loop in
            let nearest = (loop.owner as? ReplayReader)?.nearest(to: query, missedFor: reason)
            waitingSearches.subtract(1, ordering: .relaxed)
            answer(.missed(reason, nearest: nearest))
        }
        if !isTaken { answer(.missed(reason, nearest: nil)) }
    }

    /// Reads a piece of a recorded body.
    package func read(_ body: RecordedBody, ofLayer layer: Int, at offset: UInt64, reply: Reply<BodyReadResult>) {
        let isTaken = reader.handle.post { loop in
            reply.send((loop.owner as? ReplayReader)?.read(body, ofLayer: layer, at: offset) ?? .failed)
        }
        if !isTaken { reply.send(.failed) }
    }

    /// Restarts all sequences, for later requests.
    package func rewind() { reader.handle.post { ($0.owner as? ReplayReader)?.rewind() } }

    /// The places of the recordings that were used, for each file in order.
    package var usedPlaces: [Set<Int>] { used.withLock { $0 } }
}

/// Why a recording cannot be replayed.
package struct ReplaySourceError: Error, Sendable {
    package let path: String
    package let reason: String
}

/// A request to look up in the recordings.
package struct RecordingQuery: Sendable {
    let request: RequestToMatch
    /// The session: requests with the same scope share sequence positions.
    package let scope: [UInt8]
    let now: Timestamp
    /// Whether to report near misses if no recording matches.
    let wantsNearest: Bool

    package init(request: RequestToMatch, scope: [UInt8], now: Timestamp, wantsNearest: Bool) {
        self.request = request
        self.scope = scope
        self.now = now
        self.wantsNearest = wantsNearest
    }
}

/// The outcome of looking up a request in the replay sources.
package enum LayerAnswer: Sendable {
    case found(ReplayedResponse, AnswerPlace)
    case missed(MissReason, nearest: NearMissReport?)
    case damaged
}

/// The location of a recording in the replay sources.
package struct AnswerPlace: Sendable {
    package let layer: Int
    /// The recording's position in the canonical order of its replay source.
    let place: Int
    /// The body to read piece by piece; `nil` if the response holds the content.
    package let body: RecordedBody?
    /// The digest of the whole content as recorded; `nil` if there is no content.
    package let digest: SHA256Digest?
    /// The fields of each 103 to send before the response.
    package var earlyHints: [Fields] = []
}
