import HTTPCaching
import HTTPMessage
import SharedTier

/// Entries without signatures, for tests of the engine's side: a changed byte is noticed, a forger is not.
final class PlainEntries: EntryCoding {
    let farm = "test"
    let canSeal = true
    private static let pieceLength = 64 << 10
    private static let inlineLength = 16 << 10

    func name(ofKey key: [UInt8]) -> [UInt8] { Array("k\(Self.hash(key))".utf8) }
    func name(ofVariant nominatedFields: [UInt8], key: [UInt8]) -> [UInt8] { Array("v\(Self.hash(nominatedFields))".utf8) }

    func seal(_ batch: [EntryToSeal], at now: Timestamp) -> [StorableEntry?] {
        batch.map { entry in
            let flags = entry.response.facts.flags
            guard case .bytes(let body) = entry.response.body,
                flags.isDisjoint(with: [.private, .noStore, .setCookie, .authorized])
            else { return nil }
            var facts: [UInt8] = []
            entry.response.facts.encode(into: &facts)
            var head: [UInt8] = []
            StoredHead.encode(entry.response.head, into: &head)
            var pieces: [(name: [UInt8], bytes: [UInt8])] = []
            if body.count > Self.inlineLength {
                for start in stride(from: 0, to: body.count, by: Self.pieceLength) {
                    let piece = Array(body[start..<min(start + Self.pieceLength, body.count)])
                    pieces.append((Array("p\(Self.hash(piece))".utf8), piece))
                }
            }
            let names = pieces.flatMap { Self.framed($0.name) }
            let fields = [
                entry.mark.epoch, Array("\(entry.mark.generation)".utf8), entry.response.key, entry.response.nominatedFields,
                facts,
                head, pieces.isEmpty ? body : [], names,
            ]
            let bytes = fields.flatMap(Self.framed)
            return StorableEntry(entry: Array("\(Self.hash(bytes)) ".utf8) + bytes, pieces: pieces)
        }
    }

    func open(
        _ entry: [UInt8], key: [UInt8], epoch: [UInt8], oldest: Int64, at now: Timestamp
    ) -> Result<FoundEntry, EntryRefusal> {
        let sum = entry.prefix { $0 != 0x20 }
        let bytes = Array(entry.dropFirst(sum.count + 1))
        guard String(decoding: sum, as: UTF8.self) == Self.hash(bytes), let fields = Self.fields(bytes), fields.count == 8,
            let generation = Int64(String(decoding: fields[1], as: UTF8.self)), let names = Self.fields(fields[7])
        else { return .failure(EntryRefusal("malformed")) }
        // A span needs a variable whose bytes it borrows.
        let (factBytes, headBytes) = (fields[4], fields[5])
        let decodedFacts = ReuseFacts(decoding: factBytes.span)
        let decodedHead = StoredHead.decode(headBytes.span)
        guard let facts = decodedFacts, let head = decodedHead else { return .failure(EntryRefusal("malformed")) }
        if fields[2] != key { return .failure(EntryRefusal("other_key")) }
        if fields[0] != epoch { return .failure(EntryRefusal("other_epoch")) }
        if generation < oldest { return .failure(EntryRefusal("old_generation")) }
        let response = StoredResponse(
            key: key, nominatedFields: fields[3], facts: facts, head: head, requestTime: facts.responseTime,
            body: .bytes(fields[6]))
        return .success(
            FoundEntry(
                response: response, mark: FarmMark(epoch: epoch, generation: generation), pieces: names, signer: "none"
            ) { pieces in
                for (name, piece) in zip(names, pieces) where name != Array("p\(Self.hash(piece))".utf8) {
                    return .failure(EntryRefusal("body_damaged"))
                }
                return .success(response.with(body: .bytes(pieces.flatMap { $0 }), trailers: Fields()))
            })
    }

    func seal(record: [UInt8]) -> [UInt8]? { record }
    func open(record: [UInt8]) -> [UInt8]? { record }

    private static func framed(_ field: [UInt8]) -> [UInt8] { Array("\(field.count) ".utf8) + field }

    private static func fields(_ bytes: [UInt8]) -> [[UInt8]]? {
        var fields: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let digits = rest.prefix { $0 != 0x20 }
            guard let count = Int(String(decoding: digits, as: UTF8.self)), count <= rest.count - digits.count - 1 else {
                return nil
            }
            rest = rest.dropFirst(digits.count + 1)
            fields.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return fields
    }

    /// FNV-1a, in hexadecimal.
    private static func hash(_ octets: [UInt8]) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for octet in octets { hash = (hash ^ UInt64(octet)) &* 0x0000_0100_0000_01B3 }
        return String(hash, radix: 16)
    }
}
