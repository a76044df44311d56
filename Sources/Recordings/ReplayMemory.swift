import HTTPCaching
import HTTPMessage
import Snapshots

/// Replayed responses that a loop keeps in memory: an equal request need not wait for the thread that reads the files. Confined to its
/// loop.
///
/// Requests are equal if their heads have the same bytes and their URIs are equal. The memory contains no requests with content, no
/// responses of a sequence, and no truncated responses. A hash of the request selects one slot, and a new response replaces the slot's
/// previous one.
package final class ReplayMemory {
    private var places: [ReplayedAnswer?]
    private var byteCount = 0
    /// The maximum total size, in bytes.
    private let limit: Int
    /// The seed of the hash. It is random, so that clients cannot choose requests that share a slot.
    private let seed = UInt64.random(in: 0...UInt64.max)

    /// The number of slots, a power of two.
    private static let placeCount = 4096

    package init(limit: Int) {
        self.limit = limit
        places = Array(repeating: nil, count: Self.placeCount)
    }

    package func answer(to head: Span<UInt8>, uri: Span<UInt8>) -> ReplayedAnswer? {
        guard let known = places[place(of: head, uri)], known.isFor(head, uri) else { return nil }
        return known
    }

    package func keep(_ answer: ReplayedAnswer) {
        guard answer.cost <= limit / 16 else { return }
        if byteCount + answer.cost > limit {
            places = Array(repeating: nil, count: Self.placeCount)
            byteCount = 0
        }
        let (head, uri) = (answer.head, answer.uri)
        let place = place(of: head.span, uri.span)
        byteCount += answer.cost - (places[place]?.cost ?? 0)
        places[place] = answer
    }

    private func place(of head: Span<UInt8>, _ uri: Span<UInt8>) -> Int {
        var hash = seed
        Self.mix(uri, into: &hash)
        Self.mix(head, into: &hash)
        return Int(truncatingIfNeeded: hash >> 32) & (Self.placeCount - 1)
    }

    /// Mixes eight bytes at a time. It only has to spread requests over the slots; equality is checked by comparing their bytes.
    private static func mix(_ octets: Span<UInt8>, into hash: inout UInt64) {
        octets.withUnsafeBytes { octets in
            var offset = 0
            while offset &+ 8 <= octets.count {
                let word = octets.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
                hash ^= hash >> 29
                offset &+= 8
            }
            while offset < octets.count {
                hash = (hash ^ UInt64(octets[offset])) &* 0x9E37_79B9_7F4A_7C15
                offset &+= 1
            }
            hash ^= hash >> 29
        }
    }
}

/// A recording that answered a request.
package final class ReplayedAnswer {
    /// The bytes of the request's head in memory, and its URI.
    package let head: [UInt8]
    let uri: [UInt8]
    package let stored: StoredResponse
    package let layer: Int
    /// The body to read piece by piece; `nil` if the response holds the content.
    package let body: RecordedBody?
    package let earlyHints: [Fields]
    /// The member of the access log's line.
    package let logMember: [UInt8]

    package init(head: Span<UInt8>, uri: Span<UInt8>, _ stored: StoredResponse, _ place: AnswerPlace, logMember: [UInt8]) {
        var octets: [UInt8] = []
        octets.append(head)
        self.head = octets
        octets = []
        octets.append(uri)
        self.uri = octets
        self.stored = stored
        layer = place.layer
        body = place.body
        earlyHints = place.earlyHints
        self.logMember = logMember
    }

    /// The answer's approximate size in memory, in bytes.
    var cost: Int {
        let content = if case .bytes(let bytes) = stored.body { bytes.count } else { 0 }
        return 512 + head.count + uri.count + stored.head.fields.bytes.count + stored.preparedHead.count + logMember.count
            + content + earlyHints.reduce(0) { $0 + $1.bytes.count }
    }

    func isFor(_ head: Span<UInt8>, _ uri: Span<UInt8>) -> Bool {
        let own = (self.head, self.uri)
        return own.0.span.isSame(as: head) && own.1.span.isSame(as: uri)
    }
}
