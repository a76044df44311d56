internal import HTTPCaching
internal import HTTPMessage

/// The payload of an entry before its encryption: a stored response without its key.
///
///     64  the facts (`ReuseFacts`)
///     8   the time at which the request was sent, in milliseconds since 1970
///     1   1 with a certificate chain, else 0; with 1 follows the digest of the chain (32)
///     1+  the epoch
///     8   the generation
///     1+  the fence
///     4+  the nominated request fields
///     2   the number of tags; for each of them 2+ the tag
///     4+  the head (`StoredHead`)
///     4+  the trailers; no bytes without trailers
///     1   the kind of the body:
///           0: 4+ the body
///           1: 32 the identifier, 8 the length, 2 the number of pieces, and for each of them 32 bytes of digest
///           2: as 1, with the farm key's id (8) before the identifier
///
/// `n+` stands for a number of n bytes, followed by as many bytes as the number says.
package enum PayloadCoding {
    enum Body {
        case inline([UInt8])
        case pieces(PiecedBody)

        var length: UInt64 {
            switch self {
            case .inline(let bytes): UInt64(bytes.count)
            case .pieces(let body): body.length
            }
        }
    }

    /// What a payload says, before the response has its body.
    struct Decoded {
        let response: StoredResponse
        let position: EntryPosition
        let chainDigest: [UInt8]?
        let body: Body
    }

    static func encode(_ entry: SharedEntry, body: Body) throws(EntryRejection) -> [UInt8] {
        let (response, position) = (entry.response, entry.position)
        let isWithinLimits =
            position.epoch.count <= EntryLimits.word && position.fence.count <= EntryLimits.word
            && response.nominatedFields.count <= EntryLimits.nominatedFields && response.tags.count <= EntryLimits.tagCount
            && response.tags.allSatisfy { $0.utf8.count <= EntryLimits.tag }
        guard isWithinLimits else { throw .tooLarge }
        var output: [UInt8] = []
        output.reserveCapacity(1024 + response.head.fields.bytes.count + response.nominatedFields.count)
        response.facts.encode(into: &output)
        output.append(bigEndian: response.requestTime.milliseconds)
        output.append(entry.chainDigest == nil ? 0 : 1)
        output += entry.chainDigest ?? []
        output.append(counted: position.epoch, UInt8.self)
        output.append(bigEndian: position.generation)
        output.append(counted: position.fence, UInt8.self)
        output.append(counted: response.nominatedFields, UInt32.self)
        output.append(bigEndian: UInt16(response.tags.count))
        for tag in response.tags { output.append(counted: Array(tag.utf8), UInt16.self) }
        var head: [UInt8] = []
        StoredHead.encode(response.head, into: &head)
        output.append(counted: head, UInt32.self)
        head.removeAll(keepingCapacity: true)
        if !response.trailers.isEmpty { StoredHead.encode(trailers: response.trailers, into: &head) }
        output.append(counted: head, UInt32.self)
        append(body, to: &output)
        return output
    }

    private static func append(_ body: Body, to output: inout [UInt8]) {
        switch body {
        case .inline(let bytes):
            output.append(0)
            output.append(counted: bytes, UInt32.self)
        case .pieces(let body):
            output.append(body.farmKey == nil ? 1 : 2)
            output += body.farmKey?.octets ?? []
            output += body.identifier
            output.append(bigEndian: body.length)
            output.append(bigEndian: UInt16(body.digests.count))
            for digest in body.digests { output += digest }
        }
    }

    /// - Parameter key: the cache key, which the payload does not contain.
    static func decode(_ bytes: [UInt8], _ range: Range<Int>, key: [UInt8]) throws(EntryRejection) -> Decoded {
        var reader = ByteReader(bytes, range)
        let factsRange = try reader.range(ReuseFacts.encodedCount)
        guard let facts = ReuseFacts(decoding: bytes.span.extracting(factsRange)) else { throw .malformed }
        let requestTime = try reader.number(Int64.self)
        guard requestTime >= 0, requestTime <= facts.responseTime.milliseconds &+ EntryLimits.clockDifference else {
            throw .malformed
        }
        let chain = try reader.number(UInt8.self)
        guard chain <= 1 else { throw .malformed }
        let chainDigest = chain == 1 ? try reader.array(32) : nil
        let epoch = try reader.counted(UInt8.self, limit: EntryLimits.word)
        let generation = try reader.number(Int64.self)
        let fence = try reader.counted(UInt8.self, limit: EntryLimits.word)
        let nominated = try reader.counted(UInt32.self, limit: EntryLimits.nominatedFields)
        let tags = try tags(&reader)
        let headRange = try reader.countedRange(UInt32.self, limit: StoredHead.encodedCountLimit)
        guard let head = StoredHead.decode(bytes.span.extracting(headRange)) else { throw .malformed }
        let trailerRange = try reader.countedRange(UInt32.self, limit: StoredHead.encodedCountLimit)
        var trailers = Fields()
        if !trailerRange.isEmpty {
            guard let fields = StoredHead.decodeTrailers(bytes.span.extracting(trailerRange)) else { throw .malformed }
            trailers = fields
        }
        let body = try body(&reader)
        guard reader.isAtEnd, head.status == facts.status else { throw .malformed }
        let stored: StoredBody =
            switch body {
            case .inline(let bytes): .bytes(bytes)
            // The pieces replace this body (`OpenedEntry.assemble`).
            case .pieces(let body): .onDisk(BodyReference(id: 0, length: body.length))
            }
        let response = StoredResponse(
            key: key, nominatedFields: nominated, facts: facts, head: head,
            requestTime: Timestamp(milliseconds: requestTime), body: stored, trailers: trailers, tags: tags)
        return Decoded(
            response: response, position: EntryPosition(epoch: epoch, generation: generation, fence: fence),
            chainDigest: chainDigest, body: body)
    }

    private static func tags(_ reader: inout ByteReader) throws(EntryRejection) -> [String] {
        let count = Int(try reader.number(UInt16.self))
        guard count <= EntryLimits.tagCount else { throw .tooLarge }
        var tags: [String] = []
        for _ in 0..<count {
            guard let tag = String(validating: try reader.counted(UInt16.self, limit: EntryLimits.tag), as: UTF8.self) else {
                throw .malformed
            }
            tags.append(tag)
        }
        return tags
    }

    private static func body(_ reader: inout ByteReader) throws(EntryRejection) -> Body {
        let kind = try reader.number(UInt8.self)
        switch kind {
        case 0: return .inline(try reader.counted(UInt32.self, limit: EntryLimits.inlineBody))
        case 1, 2:
            let farmKey = kind == 2 ? FarmKey.ID(octets: try reader.array(FarmKey.ID.count)) : nil
            let identifier = try reader.array(32)
            let length = try reader.number(UInt64.self)
            guard length <= UInt64(EntryLimits.body) else { throw .tooLarge }
            let count = Int(try reader.number(UInt16.self))
            // The number of pieces follows from the length. A body that fits into its entry is in its entry.
            guard length > UInt64(EntryLimits.inlineBody), count == PiecedBody.count(ofLength: Int(length)) else {
                throw .malformed
            }
            var digests: [[UInt8]] = []
            for _ in 0..<count { digests.append(try reader.array(32)) }
            return .pieces(PiecedBody(length: length, identifier: identifier, farmKey: farmKey, digests: digests))
        default: throw .malformed
        }
    }
}

extension PiecedBody {
    static func count(ofLength length: Int) -> Int { (length + EntryLimits.piece - 1) / EntryLimits.piece }

    /// The range of a piece in the body.
    func range(ofPiece number: Int) -> Range<Int> {
        let start = number * EntryLimits.piece
        return start..<min(start + EntryLimits.piece, Int(length))
    }
}

extension Array<UInt8> {
    /// Appends the number of the bytes, and the bytes.
    fileprivate mutating func append<Count: FixedWidthInteger>(counted bytes: [UInt8], _: Count.Type) {
        append(bigEndian: Count(bytes.count))
        append(contentsOf: bytes)
    }
}

extension PayloadCoding {
    /// Whether a payload, if these bytes are one, is the same after it was written and read again.
    package static func isStable(_ bytes: [UInt8]) -> Bool {
        guard let first = try? decode(bytes, 0..<bytes.count, key: []), let written = encoded(first) else { return true }
        guard let second = try? decode(written, 0..<written.count, key: []) else { return false }
        return encoded(second) == written
    }

    /// - Returns: `nil` if a limit forbids writing it.
    private static func encoded(_ decoded: Decoded) -> [UInt8]? {
        // The limits for writing and reading are the same, so the reason is not needed.
        try? encode(SharedEntry(decoded.response, decoded.position, chainDigest: decoded.chainDigest), body: decoded.body)
    }
}
