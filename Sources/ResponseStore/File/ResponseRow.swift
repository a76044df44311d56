import HTTPCaching
import HTTPMessage

/// A row of the table `response`, without its inline body.
struct ResponseRow {
    enum State: Int64 {
        case filling = 0
        case complete = 1
        case partial = 2
        case dropped = 3
    }

    /// What a row costs beside its bytes, for the marks.
    static let overhead = 512

    var id: StoredRowID = 0
    var keyHash = KeyHash(low: 0, high: 0)
    var variant: Int64 = 0
    var generation: Int64 = 0
    var state: State = .complete
    var origin: Int64 = 0
    /// 0 where the body is inline.
    var bodyID: Int64 = 0
    var bodyLength: Int64 = 0
    /// Of the inline body.
    var bodyChecksum: Int64 = 0
    var trust: Int64 = 0
    var chain: Int64 = 0
    var facts: [UInt8] = []
    var key: [UInt8] = []
    var nominated: [UInt8] = []
    /// Request time, head and trailers, as `encodeHead` writes them.
    var head: [UInt8] = []

    /// What counts against the marks.
    var size: Int64 { Int64(key.count + nominated.count + head.count + facts.count + ResponseRow.overhead) + bodyLength }

    /// Covers all but what changes with use or is counted elsewhere (last access, size).
    var checksum: Int64 {
        var checksum = Checksum(seed: id)
        checksum.combine(variant)
        checksum.combine(generation)
        checksum.combine(state.rawValue)
        checksum.combine(origin)
        checksum.combine(bodyID)
        checksum.combine(bodyLength)
        checksum.combine(bodyChecksum)
        checksum.combine(trust)
        checksum.combine(chain)
        checksum.combine(facts.span)
        checksum.combine(key.span)
        checksum.combine(nominated.span)
        checksum.combine(head.span)
        return checksum.value
    }

    /// Takes the response's parts over, in storage that is used again.
    mutating func fill(from response: StoredResponse, _ keyHash: KeyHash, _ hasher: KeyHasher) {
        id = response.row
        self.keyHash = keyHash
        variant = hasher.variant(ofNominated: response.nominatedFields)
        generation = 0
        state = .complete
        origin = hasher.origin(ofKey: response.key)
        bodyID = 0
        bodyLength = Int64(response.body.length)
        bodyChecksum = 0
        trust = 0
        chain = 0
        facts.removeAll(keepingCapacity: true)
        response.facts.encode(into: &facts)
        key = response.key
        nominated = response.nominatedFields
        encodeHead(of: response)
    }

    mutating func encodeHead(of response: StoredResponse) {
        head.removeAll(keepingCapacity: true)
        for shift in stride(from: 0, to: 64, by: 8) {
            head.append(UInt8(truncatingIfNeeded: response.requestTime.milliseconds >> Int64(shift)))
        }
        for _ in 0..<4 { head.append(0) }
        StoredHead.encode(response.head, into: &head)
        let count = head.count - ResponseRow.headPrefix
        for index in 0..<4 { head[8 + index] = UInt8(truncatingIfNeeded: count >> (index * 8)) }
        if !response.trailers.isEmpty { StoredHead.encode(trailers: response.trailers, into: &head) }
    }

    /// The response that stands in this row, whose checksum has been verified.
    /// - Returns: `nil` where a part cannot be read.
    func response(body: StoredBody) -> StoredResponse? {
        guard head.count >= ResponseRow.headPrefix, let facts = ReuseFacts(decoding: facts.span) else { return nil }
        var requestTime: UInt64 = 0
        for index in 0..<8 { requestTime |= UInt64(head[index]) << UInt64(index * 8) }
        var count = 0
        for index in 0..<4 { count |= Int(head[8 + index]) << (index * 8) }
        let parts = head.span.extracting(ResponseRow.headPrefix...)
        guard count <= parts.count, let decoded = StoredHead.decode(parts.extracting(0..<count)) else { return nil }
        var trailers = Fields()
        if count < parts.count {
            guard let fields = StoredHead.decodeTrailers(parts.extracting(count...)) else { return nil }
            trailers = fields
        }
        return StoredResponse(
            key: key, nominatedFields: nominated, facts: facts, head: decoded,
            requestTime: Timestamp(milliseconds: Int64(bitPattern: requestTime)), body: body, trailers: trailers, row: id)
    }

    private static let headPrefix = 12
}

/// Bodies in pieces.
enum Chunk {
    static let length = 128 << 10
    /// Chunks in one transaction: 2 MiB.
    static let run = 16
    /// A body may have this many: 128 GiB.
    static let limit = 1 << 20

    static func id(ofBody body: Int64, number: Int) -> Int64 { body << 20 | Int64(number) }

    static func count(forLength length: UInt64) -> Int { Int((length + UInt64(Chunk.length) - 1) / UInt64(Chunk.length)) }
}
