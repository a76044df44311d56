import HTTPMessage
import ServerTrust

/// Up to which generation a snapshot is asked.
package enum AsOf: Equatable, Sendable {
    case newest
    case generation(UInt32)
    /// What had been begun by then.
    case time(Timestamp)
}

/// What a snapshot has for a request.
package enum ReplayOutcome: Sendable {
    case found(FoundRecording)
    case missed(MissReason)
}

/// A recording that answers a request.
package struct FoundRecording: Sendable {
    package let recording: Recording
    /// In canonical order.
    package let place: Int
    /// Which of how many answers of its sequence it is, from 0.
    package let position: Int
    package let sequenceLength: Int
    /// Whether a HEAD is answered from the recording of a GET.
    package let isFromGet: Bool
}

/// Why no recording answers a request.
package enum MissReason: String, Sendable, CaseIterable {
    /// Nothing was recorded for its method, URI, body, credentials and the fields that count.
    case notRecorded = "not_recorded"
    /// It was, and a field that the response's Vary names differs.
    case varies
    /// It was, with other secrets.
    case otherSecret = "other_secret"
    /// It was, in a later generation than is asked for.
    case later
    /// All answers of its sequence have been given.
    case exhausted
}

/// A snapshot that is replayed from, with what is known of its sequences. Confined to its snapshot's thread.
package final class SnapshotLayer {
    package let snapshot: Snapshot
    package let matcher: RequestMatcher
    /// The project's; without one any value stands for a secret.
    private let key: ProjectKey?
    private let newestGeneration: UInt32
    private let end: SequenceEnd
    private let number: Int
    private var groups: [PrimaryKey: [RecordingGroup]] = [:]

    /// Keys whose recordings are remembered in groups.
    private static let groupLimit = 1 << 16

    /// - Parameter number: its place among the layers.
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

    /// The recording that answers a request, and the sequence it is in moved on.
    /// - Throws: `damaged` for what is not what was signed: it is neither an answer nor a miss.
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
        let primary = canonical.primary
        let recorded = try groups(of: primary)
        if recorded.isEmpty { return .missed(.notRecorded) }
        let nominated = recorded.filter { $0.key == canonical.key(nominatedBy: $0.nominating) }
        if nominated.isEmpty { return .missed(.varies) }
        let allowed = withSecrets(of: canonical, among: nominated)
        if allowed.isEmpty { return .missed(.otherSecret) }
        let begun = allowed.filter { $0.generation <= newestGeneration }
        // The first of those of the newest generation: without the project's key several may differ by their secrets alone.
        guard let group = begun.max(by: { $0.generation < $1.generation }) else { return .missed(.later) }
        let newest = begun.first { $0.generation == group.generation } ?? group
        return try answer(from: newest, &cursors)
    }

    private func answer(from group: RecordingGroup, _ cursors: inout SequenceCursors) throws(SnapshotError) -> ReplayOutcome {
        let count = cursors.next(
            of: SequenceCursors.Sequence(layer: number, key: group.key, secrets: group.secrets, generation: group.generation))
        var position = count - 1
        if position >= group.places.count {
            switch end {
            case .loop: position %= group.places.count
            case .last: position = group.places.count - 1
            case .error: return .missed(.exhausted)
            }
        }
        let place = group.places.lowerBound + position
        return .found(
            FoundRecording(
                recording: try snapshot.recording(at: place), place: place, position: position,
                sequenceLength: group.places.count, isFromGet: false))
    }

    private func withSecrets(of canonical: CanonicalRequest, among groups: [RecordingGroup]) -> [RecordingGroup] {
        let secrets = canonical.secretsDigest(under: key)
        let same = groups.filter { $0.secrets == secrets }
        return same.isEmpty && key == nil ? groups : same
    }

    private func groups(of primary: PrimaryKey) throws(SnapshotError) -> [RecordingGroup] {
        if let known = groups[primary] { return known }
        let places = snapshot.keys.places(of: primary)
        if places.isEmpty { return [] }
        var found: [RecordingGroup] = []
        for place in places {
            let recording = try snapshot.recording(at: place)
            guard recording.identity.primary == primary else { throw .damaged("a recording stands under another key") }
            if let last = found.indices.last, found[last].holds(recording) {
                found[last].places = found[last].places.lowerBound..<place + 1
            } else {
                found.append(RecordingGroup(recording, at: place))
            }
        }
        if groups.count >= Self.groupLimit { groups.removeAll() }
        groups[primary] = found
        return found
    }
}

/// Recordings that answer the same request one after the other: they stand side by side in canonical order, by their positions.
struct RecordingGroup {
    let key: SHA256Digest
    let secrets: SHA256Digest
    let generation: UInt32
    /// The Vary lines of the first one: all have one key, and so nominate the same.
    let nominating: Fields?
    var places: Range<Int>

    init(_ recording: Recording, at place: Int) {
        key = recording.identity.key
        secrets = recording.identity.secrets
        generation = recording.generation
        var vary = Fields()
        if let fields = recording.response?.fields {
            for line in fields.lines where line.known == .vary { vary.append("Vary", fields.value(of: line)) }
        }
        nominating = vary
        places = place..<place + 1
    }

    func holds(_ recording: Recording) -> Bool {
        key == recording.identity.key && secrets == recording.identity.secrets && generation == recording.generation
    }
}
