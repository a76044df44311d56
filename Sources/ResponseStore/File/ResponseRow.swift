import HTTPCaching
import HTTPMessage

/// A row of the table `response`, without its inline body.
struct ResponseRow {
    enum State: Int64 {
        case pending = 0
        case complete = 1
        case partial = 2
        case dropped = 3

        /// An invalid value counts as pending, so the row is only cleaned up.
        init(stored value: Int64) { self = State(rawValue: value) ?? .pending }
    }

    /// The assumed size of the fixed parts of a row in bytes. It is part of the size that is compared with the store's high and low marks.
    static let overhead = 512

    var id: StoredRowID = 0
    var keyHash = KeyHash(low: 0, high: 0)
    var variant: Int64 = 0
    var generation: Int64 = 0
    var state: State = .complete
    var origin: Int64 = 0
    /// The id of the body's chunks; 0 if the body is inline, and the negative row id if the body is in extents.
    var bodyID: Int64 = 0
    var bodyLength: Int64 = 0
    /// The number of bytes in extents, if the body is in extents.
    var extentBytes: Int64?
    /// The checksum of the inline body.
    var bodyChecksum: Int64 = 0
    var trust: Int64 = 0
    /// The id in `certificate_chain`; 0 for none.
    var chain: Int64 = 0
    var facts: [UInt8] = []
    var key: [UInt8] = []
    var nominated: [UInt8] = []
    /// The tags, one on each line.
    var tags: [UInt8] = []
    /// Request time, head and trailers, as encoded by `encodeHead`.
    var head: [UInt8] = []

    /// The size in bytes that is compared with the store's high and low marks.
    var size: Int64 { sizeWithoutBody + (extentBytes ?? bodyLength) }

    var sizeWithoutBody: Int64 {
        Int64(key.count + nominated.count + tags.count + head.count + facts.count + ResponseRow.overhead)
    }

    /// The checksum of all values of the row, except those that change with use or are counted elsewhere (last access, size).
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
        checksum.combine(tags.span)
        checksum.combine(head.span)
        return checksum.value
    }

    /// Copies the parts of the response, reusing the storage.
    mutating func fill(from response: StoredResponse, _ keyHash: KeyHash, _ hasher: KeyHasher) {
        id = response.row
        self.keyHash = keyHash
        variant = hasher.variant(ofNominated: response.nominatedFields)
        generation = 0
        state = .complete
        origin = hasher.origin(ofKey: response.key)
        bodyID = 0
        bodyLength = Int64(clamping: response.body.length)
        extentBytes = nil
        bodyChecksum = 0
        trust = 0
        // `WritingTables` sets the chain's id.
        chain = 0
        facts.removeAll(keepingCapacity: true)
        response.facts.encode(into: &facts)
        key = response.key
        nominated = response.nominatedFields
        tags.removeAll(keepingCapacity: true)
        for tag in response.tags {
            tags += tag.utf8
            tags.append(ResponseRow.tagEnd)
        }
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

    static func tags(decoding bytes: [UInt8]) -> [String] {
        bytes.isEmpty ? [] : bytes.split(separator: tagEnd).map { String(decoding: $0, as: UTF8.self) }
    }

    private static let tagEnd: UInt8 = 0x0A

    /// Status line and fields, in the encoding of `StoredHead`; empty if the length prefix is wrong.
    var encodedHead: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let count = headCount
            return head.span.extracting(count == 0 ? 0..<0 : ResponseRow.headPrefix..<ResponseRow.headPrefix + count)
        }
    }

    /// When the request that fetched the response was sent.
    var requestTime: Timestamp {
        var milliseconds: UInt64 = 0
        if head.count < ResponseRow.headPrefix { return Timestamp(milliseconds: 0) }
        for index in 0..<8 { milliseconds |= UInt64(head[index]) << UInt64(index * 8) }
        return Timestamp(milliseconds: Int64(bitPattern: milliseconds))
    }

    /// The length of the encoded head, without the trailers after it; 0 if the prefix is invalid.
    private var headCount: Int {
        if head.count < ResponseRow.headPrefix { return 0 }
        var count = 0
        for index in 0..<4 { count |= Int(head[8 + index]) << (index * 8) }
        return count <= head.count - ResponseRow.headPrefix ? count : 0
    }

    /// The response in this row, whose checksum has been verified.
    /// - Parameter chain: the recorded chain; not needed if the response is only compared.
    /// - Returns: `nil` if a part cannot be decoded.
    func response(body: StoredBody, chain: RecordedChain? = nil) -> StoredResponse? {
        let end = ResponseRow.headPrefix + headCount
        guard let facts = ReuseFacts(decoding: facts.span), let decoded = StoredHead.decode(encodedHead) else { return nil }
        var trailers = Fields()
        if end < head.count {
            guard let fields = StoredHead.decodeTrailers(head.span.extracting(end...)) else { return nil }
            trailers = fields
        }
        return StoredResponse(
            key: key, nominatedFields: nominated, facts: facts, head: decoded,
            requestTime: requestTime, body: body, trailers: trailers, tags: ResponseRow.tags(decoding: tags), chain: chain,
            row: id)
    }

    private static let headPrefix = 12
}

/// Limits of the chunks in which long bodies are stored.
enum Chunk {
    static let length = 128 << 10
    /// The number of chunks written in one transaction; together 2 MiB.
    static let run = 16
    /// The maximum number of chunks of a body; together 128 GiB.
    static let limit = 1 << 20
    static let bodyLimit = Int64(limit) * Int64(length)

    static func id(ofBody body: Int64, number: Int) -> Int64 { body << 20 | Int64(number) }

    static func count(forLength length: UInt64) -> Int { Int((length + UInt64(Chunk.length) - 1) / UInt64(Chunk.length)) }
}
