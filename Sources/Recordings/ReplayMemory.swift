import HTTPCaching
import HTTPMessage
import Snapshots

/// What a loop remembers of the answers that it has replayed: whoever asks the same in the same words need not wait for the thread that has
/// the files. Confined to its loop.
///
/// A request is the same where its head has the same bytes and its URI is the same; what has content is not remembered, nor an answer of several
/// to one request, nor one that broke off. An answer stands at the place to which its request comes, and takes that of another.
package final class ReplayMemory {
    private var places: [ReplayedAnswer?]
    private var byteCount = 0
    /// What all may take, in bytes.
    private let limit: Int
    /// So that nobody outside can choose requests that come to one place.
    private let seed = UInt64.random(in: 0...UInt64.max)

    /// A power of two.
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

    /// Eight bytes at a time. That requests differ is told by comparing them: this only has to spread them.
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

/// A recording that was the answer to a request.
package final class ReplayedAnswer {
    /// The request's head as it stands in memory, and its URI.
    package let head: [UInt8]
    let uri: [UInt8]
    package let stored: StoredResponse
    package let layer: Int
    /// Where the content is read piece by piece; `nil` where the response holds it.
    package let body: RecordedBody?
    package let earlyHints: [Fields]
    /// What the log says of it.
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

    /// What it takes of memory.
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
