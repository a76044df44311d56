import HTTPMessage
import ServerTrust

/// The responses that a run received, as a text file that a project commits to its repository. Each response has one line, `METHOD URI
/// STATUS sha256:DIGEST LENGTH`, and the lines are sorted.
///
/// Successive responses to one request have successive lines. From the second response on, the line ends with `#` and the response's
/// position.
package struct LockFile: Equatable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let method: String
        package let uri: String
        /// The response's position among the responses for one method and URI, counted from 0.
        package let position: Int
        package let status: UInt16
        /// The digest of the body; `nil` if the response has no body.
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

    /// The entries, sorted by URI, method and position.
    package let entries: [Entry]

    private static let firstLine = "larder-lock 1"
    /// The maximum length of a lock file, in bytes.
    package static let lengthLimit = 256 << 20

    package init(_ entries: [Entry]) { self.entries = entries.sorted { $0.place < $1.place } }

    /// Makes the entries of a snapshot: for each key, the responses of its newest generation.
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
        // Variants, and requests with different bodies, have the same URI and different keys. The lock file does not contain the keys.
        // So positions are numbered across all keys of one method and URI, in canonical order.
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

    /// Why a lock file is malformed, and where, as `LINE:COLUMN: REASON`. Columns are counted in bytes.
    package struct Fault: Error, Equatable, CustomStringConvertible {
        package let line: Int
        package let column: Int
        package let reason: String

        package var description: String { "\(line):\(column): \(reason)" }
    }

    package init(parsing text: String) throws(Fault) {
        var entries: [Entry] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if index == 0 {
                guard line == Self.firstLine else {
                    throw Fault(line: 1, column: 1, reason: "not a lock file: expected `\(Self.firstLine)`")
                }
            } else if !line.isEmpty {
                entries.append(try Self.entry(line, number: index + 1))
            }
        }
        self.init(entries)
    }

    private static func entry(_ line: Substring, number: Int) throws(Fault) -> Entry {
        let words = line.split(separator: " ")
        /// An error about the word with this index in the line, or about the line's end if the word is missing.
        func fault(_ index: Int) -> Fault {
            let place = index < words.count ? words[index].startIndex : line.endIndex
            let column = line.utf8.distance(from: line.startIndex, to: place) + 1
            let reason = index < Self.parts.count ? "expected \(Self.parts[index])" : "expected the end of the line"
            return Fault(line: number, column: column, reason: reason)
        }
        func word(_ index: Int) throws(Fault) -> Substring {
            guard index < words.count else { throw fault(index) }
            return words[index]
        }
        let (method, uri) = (try word(0), try word(1))
        guard let status = UInt16(try word(2)), (100...999).contains(status) else { throw fault(2) }
        let said = try word(3)
        var digest: SHA256Digest?
        if said != "-" {
            let octets = said.hasPrefix("sha256:") ? Hexadecimal.decode(String(said.dropFirst(7))) : nil
            digest = octets.flatMap { SHA256Digest($0) }
            if digest == nil { throw fault(3) }
        }
        guard let length = UInt64(try word(4)) else { throw fault(4) }
        var position = 0
        if words.count > 5 {
            guard words[5].first == "#", let read = Int(words[5].dropFirst()), read > 0 else { throw fault(5) }
            position = read
        }
        guard words.count <= Self.parts.count else { throw fault(Self.parts.count) }
        return Entry(
            method: String(method), uri: String(uri), position: position, status: status, digest: digest, length: length)
    }

    /// The parts of a line, in order.
    private static let parts = [
        "a method", "a URL", "a status code", "`sha256:` with 64 hexadecimal digits, or `-`", "a length", "`#` with a position",
    ]

    /// A difference between a run and its lock file.
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

    /// - Parameter isWhole: whether the comparison reports, as missing, the entries that the run did not request.
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
