import HTTPMessage
import ServerTrust

/// The recordings with one primary key. A recording matches a request if its secrets match, and the fields that its Vary nominates.
struct Candidates {
    private(set) var groups: [RecordingGroup] = []
    /// The different sets of Vary lines that the recordings have.
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

    /// The numbers of the groups that match a request's fields.
    func groups(for request: CanonicalRequest) -> [Int] {
        let keys = nominating.map { request.key(nominatedBy: $0) }
        return groups.indices.filter { groups[$0].key == keys[groups[$0].nominating] }
    }

    /// The places of the recordings in the given groups, in the order of recording.
    func places(in chosen: [Int]) -> [Int] {
        if groups.count == chosen.count { return places }
        let chosen = Set(chosen)
        return entries.filter { chosen.contains($0.group) }.map(\.place)
    }

    /// The digest of the secrets of the recording at this place.
    func secrets(at place: Int) -> SHA256Digest {
        guard let entry = entries.first(where: { $0.place == place }) else { preconditionFailure("a place of these candidates") }
        return groups[entry.group].secrets
    }

    /// Appends the next recording in canonical order. Recordings with one key are appended by position.
    mutating func append(_ recording: Recording, at place: Int) {
        let identity = recording.identity
        var vary = Fields()
        if let fields = recording.response?.fields {
            for line in fields.lines where line.known == .vary { vary.append("Vary", fields.value(of: line)) }
        }
        let group = RecordingGroup(
            key: identity.key, secrets: identity.secrets, generation: recording.generation, nominating: number(of: vary))
        // Within a group, positions are more reliable than times: the clock may have been set back.
        var time = recording.times.started
        if let last = entries.last, groups[last.group].hasPositions(of: group) { time = max(time, last.time) }
        let side = groups.lastIndex { !$0.hasPositions(of: group) }.map { $0 + 1 } ?? 0
        let number = groups[side...].firstIndex(of: group) ?? groups.count
        if number == groups.count { groups.append(group) }
        entries.append(Entry(group: number, place: place, position: recording.position, time: time))
    }

    /// Sorts the recordings from canonical order into the order of recording. Positions are numbered separately for each key, so times
    /// give the order between recordings with different keys.
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

/// The properties that recordings share if they answer the same requests.
struct RecordingGroup: Hashable {
    let key: SHA256Digest
    let secrets: SHA256Digest
    let generation: UInt32
    /// The index of the recordings' Vary lines in `Candidates.nominating`.
    let nominating: Int

    fileprivate func hasPositions(of other: RecordingGroup) -> Bool {
        key == other.key && secrets == other.secrets && generation == other.generation
    }
}
