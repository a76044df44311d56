import HTTPMessage
import SecretScanning

/// Recordings of requests in which a known secret was replaced in a place that does not indicate secrets, such as a user's key in a
/// path.
///
/// A replayed request has the secret itself in that place, so the request is compared with the recording piece by piece. Where the
/// recording has a placeholder, the request may have the same secret, as the project key shows. Without a project key, any value of at
/// least `lengthFloor` bytes is accepted.
struct ReplacedValues {
    /// The maximum number of recordings compared in this way.
    private static let limit = 1 << 16
    /// The maximum length of a body compared in this way, in bytes.
    private static let bodyLimit = 1 << 20
    /// The minimum length of a value that is accepted as a secret if there is no project key, in bytes.
    private static let lengthFloor = 6

    private struct Entry {
        let method: [UInt8]
        let uri: [UInt8]
        let place: Int
    }

    private let snapshot: Snapshot
    private let matcher: RequestMatcher
    private var entries: [Entry] = []

    /// Reads all recordings once, and keeps those with marks in the URI or the body.
    init(_ snapshot: Snapshot, _ matcher: RequestMatcher) throws(SnapshotError) {
        self.snapshot = snapshot
        self.matcher = matcher
        var seen: Set<PrimaryKey> = []
        for place in 0..<snapshot.count where entries.count < Self.limit {
            let recording = try snapshot.recording(at: place)
            guard recording.isRedacted, seen.insert(recording.identity.primary).inserted else { continue }
            let canonical = try Self.canonical(recording, snapshot, matcher)
            guard Self.holdsMark(canonical.uri) || Self.holdsMark(canonical.body ?? []) else { continue }
            entries.append(Entry(method: canonical.method, uri: canonical.uri, place: place))
        }
    }

    private static func canonical(
        _ recording: Recording, _ snapshot: Snapshot, _ matcher: RequestMatcher
    ) throws(SnapshotError) -> CanonicalRequest {
        CanonicalRequest(try snapshot.request(of: recording, bodyLimit: bodyLimit), matcher)
    }

    /// The request, once for each recording that it may match, with that recording's marks.
    func requests(for request: CanonicalRequest, hasKey: Bool) throws(SnapshotError) -> [CanonicalRequest] {
        var requests: [CanonicalRequest] = []
        for entry in entries where entry.method == request.method {
            guard let ofURI = Self.values(in: request.uri, as: entry.uri, delimiters: "/?&#", hasKey: hasKey) else { continue }
            let recorded = try Self.canonical(snapshot.recording(at: entry.place), snapshot, matcher)
            var values = ofURI
            if recorded.bodyDigest != request.bodyDigest {
                guard let old = recorded.body, let new = request.body, new.count <= Self.bodyLimit,
                    let ofBody = Self.values(in: new, as: old, delimiters: "&<>\"'", hasKey: hasKey)
                else { continue }
                values += ofBody
            }
            requests.append(request.marked(as: recorded, values))
        }
        return requests
    }

    private static func holdsMark(_ text: [UInt8]) -> Bool {
        text.withUnsafeBufferPointer { octets in
            octets.indices.contains { octets[$0] == SecretMark.canonical[0] && octets.holds(SecretMark.canonical, at: $0) }
        }
    }

    /// The values that a text has in the places where a recorded text has marks. A place where both texts have a mark is skipped.
    /// - Returns: `nil` if the texts differ in any other place.
    private static func values(
        in text: [UInt8], as recorded: [UInt8], delimiters: String, hasKey: Bool
    ) -> [[UInt8]]? {
        text.withUnsafeBufferPointer { text in
            recorded.withUnsafeBufferPointer { recorded in
                let mark = SecretMark.canonical
                var values: [[UInt8]] = []
                var (place, old) = (0, 0)
                while old < recorded.count {
                    if recorded[old] == mark[0], recorded.holds(mark, at: old) {
                        old += mark.count
                        if text.holds(mark, at: place) {
                            place += mark.count
                            continue
                        }
                        // The value ends at a delimiter, or at the byte that follows the mark in the recording.
                        let next = old < recorded.count ? recorded[old] : nil
                        let end = text.end(from: place, limit: SecretScan.tokenLengthLimit) { octet in
                            octet != next && octet > ASCII.space && octet != ASCII.backslash && !delimiters.utf8.contains(octet)
                        }
                        let value = Array(text[place..<end])
                        guard !value.isEmpty, hasKey || value.count >= lengthFloor else { return nil }
                        values.append(value)
                        place = end
                    } else {
                        guard place < text.count, text[place] == recorded[old] else { return nil }
                        place += 1
                        old += 1
                    }
                }
                return place == text.count ? values : nil
            }
        }
    }
}
