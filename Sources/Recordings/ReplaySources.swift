import EventLoop
import HTTPMessage
import ProxyCore
import ResponseStore
import SecretScanning
import ServerTrust
import Snapshots
import Synchronization

/// The recordings that are replayed, in the order in which they are asked: finished snapshots, opened for reading.
///
/// One thread has the files and the sequences: it finds answers and reads bodies. Another has the same files for what takes longer: the search
/// for what comes near to a request that nothing answers. Callable from any thread.
package final class ReplaySources: Sendable {
    /// How recordings are replayed.
    package struct Terms: Sendable {
        /// Paths of finished snapshots; 255 at most, which settings hold to.
        package var files: [String] = []
        /// The project's; without one any value stands for a secret.
        package var key: ProjectKey?
        /// One of them has to have signed each file; empty where nobody has to.
        package var signers: [VerifyingKey] = []
        package var asOf = AsOf.newest
        /// What comes behind the last answer of a sequence.
        package var end = SequenceEnd.loop
        package var scope = SequenceScope.server
        package var failures = FailureReplay.same
        /// Whether answers are dated as if they had been recorded when they are given.
        package var movesDates = false
        package var limits = Limits()

        package init() {}

        var replay: ReplayTerms {
            ReplayTerms(wholeLength: limits.wholeLength, decodedLength: limits.decodedLength, movesDates: movesDates)
        }
    }

    /// How much the thread that has the files holds of them.
    package struct Limits: Sendable {
        /// Bytes of a body that is read at once; a longer one is read in pieces.
        /// Each client that takes a body holds one of these in memory at most.
        package var wholeLength: UInt64 = 1 << 20
        /// Bytes of a body, in its codings and out of them, that is taken out of them for a client that does not know them. The
        /// thread that has the files does it, and other requests wait; a longer body keeps its codings.
        package var decodedLength: UInt64 = 8 << 20
        /// Who goes through sequences apart; beyond that all begin anew. Each has a place in every sequence.
        package var sessions = 4096
        /// Bodies that are read in pieces at the same time and stay open. A further one is opened again for each piece.
        package var openBodies = 64

        package init() {}
    }

    /// Who goes through a sequence together.
    package enum SequenceScope: String, Sendable, CaseIterable {
        /// All clients.
        case server
        /// Those who give one name.
        case user
        /// Those who come from one address.
        case address
    }

    /// What an exchange is answered with that failed when it was recorded.
    package enum FailureReplay: String, Sendable, CaseIterable { case same, miss }

    /// What the files are called where they are told: the last component of their paths.
    package let names: [String]
    /// How many recordings each file has.
    package let counts: [Int]
    package let terms: Terms
    private let reader: LoopThread
    private let searcher: LoopThread
    private let waitingSearches = Atomic<Int>(0)
    private let used: Guarded<[Set<Int>]>
    private let anySecret = Atomic<Bool>(false)

    /// - Throws: what the first file is that cannot be replayed, and why; `database` where there is no thread for it.
    package init(_ terms: Terms) throws(ReplaySourceError) {
        self.terms = terms
        names = terms.files.map(Self.name)
        used = Guarded(Array(repeating: [], count: terms.files.count))
        // Each has the files open for itself, and has them alone.
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
            throw ReplaySourceError(path: "", reason: "cannot start a thread for it: \(error)")
        }
    }

    deinit {
        reader.handle.stop()
        searcher.handle.stop()
        // The last to let go may be one of these threads, which then ends by itself.
        _ = reader.join(withinMilliseconds: 1000)
        _ = searcher.join(withinMilliseconds: 1000)
    }

    /// What may stand in a quoted string, 64 bytes at most.
    static func name(of path: String) -> String {
        let last = path.split(separator: "/").last.map(String.init) ?? path
        let octets = last.utf8.map { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C ? $0 : UInt8(ascii: "_") }
        return String(decoding: octets.prefix(64), as: UTF8.self)
    }

    /// Whether some request was answered whose secrets could not be compared, since there is no key.
    package var hasMatchedAnySecret: Bool { anySecret.load(ordering: .relaxed) }

    /// Looks for the answer to a request.
    /// - Parameters:
    ///   - searchLimit: how many searches for near misses may wait.
    ///   - answer: called on some thread of ours.
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

    /// Looks for what comes near to a request that nothing answers.
    /// - Parameter answer: called on some thread of ours, with `nil` where as many wait already as may.
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

    /// A piece of a recorded body.
    package func read(_ body: RecordedBody, ofLayer layer: Int, at offset: UInt64, reply: Reply<BodyReadResult>) {
        let isTaken = reader.handle.post { loop in
            reply.send((loop.owner as? ReplayReader)?.read(body, ofLayer: layer, at: offset) ?? .failed)
        }
        if !isTaken { reply.send(.failed) }
    }

    /// All sequences begin anew for the requests to come.
    package func rewind() { reader.handle.post { ($0.owner as? ReplayReader)?.rewind() } }

    /// The places of the recordings that were answers, for each file in order.
    package var usedPlaces: [Set<Int>] { used.withLock { $0 } }
}

/// Why recordings cannot be replayed.
package struct ReplaySourceError: Error, Sendable {
    package let path: String
    package let reason: String
}

/// A request for which a recording is looked for.
package struct RecordingQuery: Sendable {
    let request: RequestToMatch
    /// Whoever goes through sequences together has the same.
    package let scope: [UInt8]
    let now: Timestamp
    /// A miss is to be told with what comes near to it.
    let wantsNearest: Bool

    package init(request: RequestToMatch, scope: [UInt8], now: Timestamp, wantsNearest: Bool) {
        self.request = request
        self.scope = scope
        self.now = now
        self.wantsNearest = wantsNearest
    }
}

/// What the layers have for a request.
package enum LayerAnswer: Sendable {
    case found(ReplayedResponse, AnswerPlace)
    case missed(MissReason, nearest: NearMissReport?)
    case damaged
}

/// Where an answer stands in the layers.
package struct AnswerPlace: Sendable {
    package let layer: Int
    /// In the layer's canonical order.
    let place: Int
    /// Where the content is read piece by piece; `nil` where the response holds it.
    package let body: RecordedBody?
    /// Of the whole content as it was recorded; `nil` where it has none.
    package let digest: SHA256Digest?
    /// The fields of each 103 that is sent before it.
    package var earlyHints: [Fields] = []
}
