import HTTPMessage
import ServerTrust

/// Which answers a run was given, as a text that is committed: one line each, sorted, `METHOD URI STATUS sha256:DIGEST LENGTH`.
///
/// Answers to one request one after the other are lines one after the other, with their position behind `#` from the second on.
package struct LockFile: Equatable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let method: String
        package let uri: String
        /// From 0.
        package let position: Int
        package let status: UInt16
        /// `nil` for no body.
        package let digest: SHA256Digest?
        package let length: UInt64

        package init(method: String, uri: String, position: Int = 0, status: UInt16, digest: SHA256Digest?, length: UInt64) {
            self.method = method
            self.uri = uri
            self.position = position
            self.status = status
            self.digest = digest
            self.length = length
        }

        var text: String {
            let body = digest.map { "sha256:" + Hexadecimal.encode($0.octets) } ?? "-"
            return "\(method) \(uri) \(status) \(body) \(length)" + (position > 0 ? " #\(position)" : "")
        }

        fileprivate var place: Place { Place(method: method, uri: uri, position: position) }
    }

    fileprivate struct Place: Hashable, Comparable {
        let method: String
        let uri: String
        let position: Int

        static func < (left: Place, right: Place) -> Bool {
            if left.uri != right.uri { return left.uri.utf8.lexicographicallyPrecedes(right.uri.utf8) }
            if left.method != right.method { return left.method.utf8.lexicographicallyPrecedes(right.method.utf8) }
            return left.position < right.position
        }
    }

    /// Sorted by URI, method and position.
    package let entries: [Entry]

    private static let firstLine = "larder-lock 1"
    /// Octets of a lock file that is read.
    package static let lengthLimit = 256 << 20

    package init(_ entries: [Entry]) { self.entries = entries.sorted { $0.place < $1.place } }

    /// Of what a snapshot answers: of each key the newest generation.
    package init(of snapshot: Snapshot) throws(SnapshotError) {
        var newest: [SHA256Digest: UInt32] = [:]
        var recordings: [(key: SHA256Digest, generation: UInt32, entry: Entry)] = []
        for place in 0..<snapshot.count {
            let recording = try snapshot.recording(at: place)
            let key = recording.identity.key
            newest[key] = max(newest[key] ?? 0, recording.generation)
            guard let response = recording.response else { continue }
            recordings.append(
                (
                    key, recording.generation,
                    Entry(
                        method: String(decoding: recording.request.method, as: UTF8.self),
                        uri: String(decoding: recording.request.uri, as: UTF8.self), position: Int(recording.position),
                        status: response.status.code, digest: response.body?.digest, length: response.body?.length ?? 0)
                ))
        }
        // Variants and bodies of one URI are told apart by their keys, which no text holds: they are numbered on, in canonical order.
        var positions: [Place: Int] = [:]
        self.init(
            recordings.filter { newest[$0.key] == $0.generation }.map { _, _, entry in
                let place = Place(method: entry.method, uri: entry.uri, position: 0)
                let position = positions[place, default: 0]
                positions[place] = position + 1
                return Entry(
                    method: entry.method, uri: entry.uri, position: position, status: entry.status, digest: entry.digest,
                    length: entry.length)
            })
    }

    package var text: String { Self.firstLine + "\n" + entries.map { $0.text + "\n" }.joined() }

    /// - Throws: `malformed` with the line.
    package init(parsing text: String) throws(SnapshotError) {
        var entries: [Entry] = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if number == 0 {
                guard line == Self.firstLine else { throw .malformed("no lock file") }
                continue
            }
            if line.isEmpty { continue }
            guard let entry = Self.entry(line) else { throw .malformed("line \(number + 1) of the lock file") }
            entries.append(entry)
        }
        self.init(entries)
    }

    private static func entry(_ line: Substring) -> Entry? {
        let words = line.split(separator: " ").map(String.init)
        guard (5...6).contains(words.count), let status = UInt16(words[2]), let length = UInt64(words[4]) else { return nil }
        var digest: SHA256Digest?
        if words[3] != "-" {
            guard words[3].hasPrefix("sha256:"), let octets = Hexadecimal.decode(String(words[3].dropFirst(7))) else {
                return nil
            }
            digest = SHA256Digest(octets)
            if digest == nil { return nil }
        }
        var position = 0
        if words.count == 6 {
            guard words[5].hasPrefix("#"), let read = Int(words[5].dropFirst()) else { return nil }
            position = read
        }
        return Entry(method: words[0], uri: words[1], position: position, status: status, digest: digest, length: length)
    }

    /// How a run differs from what is locked.
    package enum Violation: Equatable, Sendable {
        case added(Entry)
        case changed(from: Entry, to: Entry)
        case missing(Entry)

        package var text: String {
            switch self {
            case .added(let entry): "+ \(entry.text)"
            case .changed(let old, let new): "- \(old.text)\n+ \(new.text)"
            case .missing(let entry): "- \(entry.text)"
            }
        }
    }

    /// - Parameter isWhole: whether what is locked and was not asked for counts too.
    package func violations(by other: LockFile, isWhole: Bool = true) -> [Violation] {
        var locked = Dictionary(entries.map { ($0.place, $0) }, uniquingKeysWith: { first, _ in first })
        var violations: [Violation] = []
        for entry in other.entries {
            guard let old = locked.removeValue(forKey: entry.place) else {
                violations.append(.added(entry))
                continue
            }
            if old != entry { violations.append(.changed(from: old, to: entry)) }
        }
        if isWhole { violations += locked.values.sorted { $0.place < $1.place }.map(Violation.missing) }
        return violations
    }
}
