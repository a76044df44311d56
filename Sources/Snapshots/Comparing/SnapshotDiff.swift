import HTTPMessage
import ServerTrust

/// How the responses of two snapshots differ. For each key, the newest generation of one snapshot is compared with the newest
/// generation of the other.
package struct SnapshotDiff: Sendable {
    package enum Kind: String, Sendable {
        case added, removed, changed
    }

    /// The aspects in which two responses differ.
    package struct Aspects: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let status = Aspects(rawValue: 1)
        package static let fields = Aspects(rawValue: 2)
        package static let body = Aspects(rawValue: 4)
        package static let failure = Aspects(rawValue: 8)

        package var words: [String] {
            [(Aspects.status, "status"), (.fields, "fields"), (.body, "body"), (.failure, "failure")]
                .filter { contains($0.0) }.map(\.1)
        }
    }

    package struct Entry: Sendable {
        package let kind: Kind
        package let method: [UInt8]
        package let uri: [UInt8]
        package let position: UInt32
        package let aspects: Aspects
        /// The names of fields whose lines differ: in lower case, sorted.
        package let fieldNames: [String]
    }

    /// The entries, sorted by URI, method and position.
    package let entries: [Entry]

    private struct Place: Hashable {
        let key: SHA256Digest
        let position: UInt32
    }

    package init(from old: Snapshot, to new: Snapshot) throws(SnapshotError) {
        guard old.roots.content != new.roots.content else {
            entries = []
            return
        }
        var entries: [Entry] = []
        var before = try Self.answers(of: old)
        for (place, answer) in try Self.answers(of: new) {
            guard let earlier = before.removeValue(forKey: place) else {
                entries.append(Self.entry(.added, try new.recording(at: answer.place)))
                continue
            }
            if earlier.form == answer.form { continue }
            entries.append(
                Self.entry(.changed, try new.recording(at: answer.place), from: try old.recording(at: earlier.place)))
        }
        for (_, answer) in before { entries.append(Self.entry(.removed, try old.recording(at: answer.place))) }
        self.entries = entries.sorted { left, right in
            if left.uri != right.uri { return left.uri.lexicographicallyPrecedes(right.uri) }
            if left.method != right.method { return left.method.lexicographicallyPrecedes(right.method) }
            return left.position < right.position
        }
    }

    private struct Answer {
        let place: Int
        /// The Merkle leaf of the recording's content form.
        let form: [UInt8]
    }

    private static func answers(of snapshot: Snapshot) throws(SnapshotError) -> [Place: Answer] {
        var answers: [Place: (generation: UInt32, answer: Answer)] = [:]
        var newest: [SHA256Digest: UInt32] = [:]
        answers.reserveCapacity(snapshot.count)
        for number in 0..<snapshot.count {
            let recording = try snapshot.recording(at: number)
            let place = Place(key: recording.identity.key, position: recording.position)
            newest[place.key] = max(newest[place.key] ?? 0, recording.generation)
            if let known = answers[place], known.generation > recording.generation { continue }
            let form = MerkleTree.leaf(ContentForm.make(of: recording))
            answers[place] = (recording.generation, Answer(place: number, form: form))
        }
        // An older generation may have more responses than the newest generation. The diff does not include the responses of older
        // generations.
        return answers.filter { $0.value.generation == newest[$0.key.key] }.mapValues(\.answer)
    }

    private static func entry(_ kind: Kind, _ recording: Recording, from old: Recording? = nil) -> Entry {
        Entry(kind, recording, old.map { AnswerDifference(from: $0, to: recording) })
    }
}

extension SnapshotDiff.Entry {
    init(_ kind: SnapshotDiff.Kind, _ recording: Recording, _ difference: AnswerDifference?) {
        self.init(
            kind: kind, method: recording.request.method, uri: recording.request.uri, position: recording.position,
            aspects: difference?.aspects ?? [], fieldNames: difference?.fieldNames ?? [])
    }
}

extension SnapshotDiff.Entry {
    /// The entry as a line: `+ GET http://…`, `- …`, or `~ …  (body, fields: etag)`.
    package var text: String {
        let sign = kind == .added ? "+" : kind == .removed ? "-" : "~"
        let what = aspects.words.map { $0 == "fields" ? "fields: " + fieldNames.joined(separator: " ") : $0 }
        let target = String(decoding: method + [ASCII.space] + uri, as: UTF8.self)
        return "\(sign) \(target)" + (position > 0 ? " #\(position)" : "")
            + (what.isEmpty ? "" : "  (\(what.joined(separator: ", ")))")
    }
}
