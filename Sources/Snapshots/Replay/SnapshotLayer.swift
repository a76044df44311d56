import HTTPMessage
import SecretScanning
import ServerTrust

/// Which generation of a snapshot replay uses as the newest: later generations are ignored.
package enum AsOf: Equatable, Sendable {
    case newest
    case generation(UInt32)
    /// The last generation that began by this time.
    case time(Timestamp)

    /// Checks that at least one of the snapshots has the requested generation.
    /// - Throws: `noGeneration`, `nothingRecordedYet`.
    package func check(_ snapshots: [Snapshot]) throws(SnapshotError) {
        switch self {
        case .newest: return
        case .generation(let number):
            let newest = snapshots.compactMap { $0.manifest.generations.last?.number }.max() ?? 0
            guard number >= 1, number <= newest else { throw .noGeneration(number, newest: newest) }
        case .time(let time):
            let first = snapshots.compactMap { $0.manifest.generations.first?.started }.min()
            if let first, first > time { throw .nothingRecordedYet(first: first) }
        }
    }
}

/// The outcome of looking up a request in a snapshot.
package enum ReplayOutcome: Sendable {
    case found(FoundRecording)
    case missed(MissReason)
}

/// A recording that matches a request.
package struct FoundRecording: Sendable {
    package let recording: Recording
    /// The recording's place in canonical order.
    package let place: Int
    /// The recording's position in its sequence, from 0.
    package let position: Int
    package let sequenceLength: Int
    /// Whether a GET was recorded and the request is a HEAD.
    package let isFromGet: Bool
}

/// Why no recording matches a request.
package enum MissReason: String, Sendable, CaseIterable {
    /// No recording has the same method, URI, body, credentials and fields of `match.fields` as the request.
    case notRecorded = "not_recorded"
    /// A recording has the same method, URI and body as the request, but differs in a field that its response's Vary nominates.
    case varies
    /// A recording matches the request except for its secrets.
    case otherSecret = "other_secret"
    /// A recording matches, but belongs to a later generation than requested.
    case later
    /// All responses of the recorded sequence have been delivered.
    case exhausted
}

/// A snapshot used for replay, with an index of its sequences. Confined to its snapshot's thread.
package final class SnapshotLayer {
    package let snapshot: Snapshot
    package let matcher: RequestMatcher
    /// The project key; without one, any value matches a secret.
    private let key: ProjectKey?
    private let newestGeneration: UInt32
    let end: SequenceEnd
    private let number: Int
    private var candidates: [PrimaryKey: Candidates] = [:]
    /// The recordings in which a known secret was replaced in an unusual place. They are read at the first miss.
    private var replacedValues: ReplacedValues?
    /// Whether a request was matched without comparing its secrets, because there is no project key.
    package private(set) var hasMatchedAnySecret = false

    /// The maximum number of keys whose recordings are kept in memory.
    private static let candidatesLimit = 1 << 16

    /// - Parameter number: the index of this snapshot among the replay sources.
    package init(
        _ snapshot: Snapshot, number: Int = 0, key: ProjectKey?, asOf: AsOf = .newest, end: SequenceEnd = .loop
    ) throws(SnapshotError) {
        self.snapshot = snapshot
        self.key = key
        self.end = end
        self.number = number
        matcher = try RequestMatcher(snapshot.manifest.terms)
        newestGeneration =
            switch asOf {
            case .newest: .max
            case .generation(let number): number
            case .time(let time): snapshot.manifest.generations.last { $0.started <= time }?.number ?? 0
            }
    }

    /// Finds the recording that answers a request, and advances its sequence.
    /// - Throws: `damaged` if the data differs from the signed data. This is neither a match nor a miss.
    package func find(_ request: RequestToMatch, _ cursors: inout SequenceCursors) throws(SnapshotError) -> ReplayOutcome {
        let outcome = try findAsItIs(request, &cursors)
        guard case .missed = outcome, request.method == Array("HEAD".utf8) else { return outcome }
        var get = request
        get.method = Array("GET".utf8)
        guard case .found(let found) = try findAsItIs(get, &cursors) else { return outcome }
        return .found(
            FoundRecording(
                recording: found.recording, place: found.place, position: found.position, sequenceLength: found.sequenceLength,
                isFromGet: true))
    }

    private func findAsItIs(_ request: RequestToMatch, _ cursors: inout SequenceCursors) throws(SnapshotError) -> ReplayOutcome {
        let canonical = CanonicalRequest(request, matcher)
        let outcome = try find(canonical, &cursors)
        guard case .missed(.notRecorded) = outcome else { return outcome }
        if replacedValues == nil { replacedValues = try ReplacedValues(snapshot, matcher) }
        for marked in try replacedValues?.requests(for: canonical, hasKey: key != nil) ?? [] {
            if case .found(let found) = try find(marked, &cursors) { return .found(found) }
        }
        return outcome
    }

    private func find(_ canonical: CanonicalRequest, _ cursors: inout SequenceCursors) throws(SnapshotError) -> ReplayOutcome {
        let candidates = try candidates(of: canonical.primary)
        if candidates.isEmpty { return .missed(.notRecorded) }
        let nominated = candidates.groups(for: canonical)
        if nominated.isEmpty { return .missed(.varies) }
        let allowed = withSecrets(of: canonical, among: nominated, of: candidates)
        if allowed.isEmpty { return .missed(.otherSecret) }
        let begun = allowed.filter { candidates.groups[$0].generation <= newestGeneration }
        guard let generation = begun.map({ candidates.groups[$0].generation }).max() else { return .missed(.later) }
        let newest = begun.filter { candidates.groups[$0].generation == generation }
        let chosen = withOneSecret(of: canonical, among: newest, of: candidates, &cursors)
        let places = candidates.places(in: chosen)
        let sequence = SequenceCursors.Sequence(layer: number, place: places[0], groups: chosen)
        if key == nil, canonical.secretsDigest(under: nil) == nil { hasMatchedAnySecret = true }
        return try answer(from: places, of: sequence, &cursors)
    }

    /// - Parameter places: the places of the sequence's recordings, in the order of recording.
    private func answer(
        from places: [Int], of sequence: SequenceCursors.Sequence, _ cursors: inout SequenceCursors
    ) throws(SnapshotError) -> ReplayOutcome {
        let count = cursors.next(of: sequence)
        var position = count - 1
        if position >= places.count {
            switch end {
            case .loop: position %= places.count
            case .last: position = places.count - 1
            case .error: return .missed(.exhausted)
            }
        }
        let place = places[position]
        return .found(
            FoundRecording(
                recording: try snapshot.recording(at: place), place: place, position: position, sequenceLength: places.count,
                isFromGet: false))
    }

    private func withSecrets(of canonical: CanonicalRequest, among groups: [Int], of candidates: Candidates) -> [Int] {
        let secrets = canonical.secretsDigest(under: key)
        let same = groups.filter { candidates.groups[$0].secrets == secrets }
        return same.isEmpty && key == nil ? groups : same
    }

    /// Chooses among recordings that differ only by their secrets, if there is no project key to compare them.
    private func withOneSecret(
        of canonical: CanonicalRequest, among groups: [Int], of candidates: Candidates, _ cursors: inout SequenceCursors
    ) -> [Int] {
        var first: [(secrets: SHA256Digest, place: Int)] = []
        for place in candidates.places(in: groups) {
            let secrets = candidates.secrets(at: place)
            if !first.contains(where: { $0.secrets == secrets }) { first.append((secrets, place)) }
        }
        guard first.count > 1 else { return groups }
        let sequence = SequenceCursors.Sequence(layer: number, place: first[0].place, groups: groups)
        let chosen = cursors.number(of: canonical.secretValues, in: sequence, among: first.count)
        return groups.filter { candidates.groups[$0].secrets == first[chosen].secrets }
    }

    private func candidates(of primary: PrimaryKey) throws(SnapshotError) -> Candidates {
        if let known = candidates[primary] { return known }
        var found = Candidates()
        for place in snapshot.keys.places(of: primary) {
            let recording = try snapshot.recording(at: place)
            guard recording.identity.primary == primary else { throw .damaged("a recording is stored under a wrong key") }
            found.append(recording, at: place)
        }
        if found.isEmpty { return found }
        found.sort()
        if candidates.count >= Self.candidatesLimit { candidates.removeAll() }
        candidates[primary] = found
        return found
    }
}
