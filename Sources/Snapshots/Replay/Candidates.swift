import HTTPMessage
import ServerTrust

/// The recordings of one primary key: what may answer a request, if its secrets and the fields that each one's own Vary names agree.
struct Candidates {
    private(set) var groups: [RecordingGroup] = []
    /// Each different set of Vary lines once.
    private var nominating: [Fields] = []
    private var numbers: [[[UInt8]]: Int] = [:]
    private var entries: [Entry] = []
    private var places: [Int] = []

    private struct Entry {
        let group: Int
        let place: Int
        let position: UInt32
        let time: Timestamp
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The numbers of the groups that a request is answered from by its fields.
    func groups(for request: CanonicalRequest) -> [Int] {
        let keys = nominating.map { request.key(nominatedBy: $0) }
        return groups.indices.filter { groups[$0].key == keys[groups[$0].nominating] }
    }

    /// The places of the recordings in some groups, in the order of recording.
    func places(in chosen: [Int]) -> [Int] {
        if groups.count == chosen.count { return places }
        let chosen = Set(chosen)
        return entries.filter { chosen.contains($0.group) }.map(\.place)
    }

    /// What the secrets of the recording at a place come to.
    func secrets(at place: Int) -> SHA256Digest {
        guard let entry = entries.first(where: { $0.place == place }) else { preconditionFailure("a place of these candidates") }
        return groups[entry.group].secrets
    }

    /// Adds the one that is next in canonical order: those of one key by their positions.
    mutating func append(_ recording: Recording, at place: Int) {
        let identity = recording.identity
        var vary = Fields()
        if let fields = recording.response?.fields {
            for line in fields.lines where line.known == .vary { vary.append("Vary", fields.value(of: line)) }
        }
        let group = RecordingGroup(
            key: identity.key, secrets: identity.secrets, generation: recording.generation, nominating: number(of: vary))
        // What has one key has positions, and they are surer than a clock that was set back.
        var time = recording.times.started
        if let last = entries.last, groups[last.group].hasPositions(of: group) { time = max(time, last.time) }
        let side = groups.lastIndex { !$0.hasPositions(of: group) }.map { $0 + 1 } ?? 0
        let number = groups[side...].firstIndex(of: group) ?? groups.count
        if number == groups.count { groups.append(group) }
        entries.append(Entry(group: number, place: place, position: recording.position, time: time))
    }

    /// Goes over from canonical order to that of recording: positions are counted by key, so that between keys the times decide.
    mutating func sort() {
        entries.sort { ($0.time, $0.position, $0.place) < ($1.time, $1.position, $1.place) }
        places = entries.map(\.place)
    }

    private mutating func number(of vary: Fields) -> Int {
        let values = vary.lines.map { Array(vary.bytes[$0.value.range]) }
        if let known = numbers[values] { return known }
        nominating.append(vary)
        numbers[values] = nominating.count - 1
        return nominating.count - 1
    }
}

/// What recordings have in common that answer the same requests.
struct RecordingGroup: Hashable {
    let key: SHA256Digest
    let secrets: SHA256Digest
    let generation: UInt32
    /// Which of its candidates' sets of Vary lines they have.
    let nominating: Int

    fileprivate func hasPositions(of other: RecordingGroup) -> Bool {
        key == other.key && secrets == other.secrets && generation == other.generation
    }
}
