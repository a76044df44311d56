/// Where the parts of an entry are, as the engine holds it:
///
///     1   version, 1
///     16  the signer: the beginning of SHA-256 of its public key     ┐
///     8   when the batch was signed, in milliseconds since 1970      │ the batch: equal in all its entries
///     2   the number of entries in the batch, 1 to 256               │
///     64  the signature of the batch                                 ┘
///     2   the number of this entry in its batch
///     32n the path from the entry to the root; n follows from the two numbers
///     1   zero: the prefix of a leaf                                 ┐
///     1   flags; bit 0: the payload is encrypted                     │
///     16  the farm                                                   │ the leaf: signed
///     32  the name of the key                                        │
///     …   the payload, up to the end                                 ┘
///
/// The leaf begins with its prefix, so that one digest over bytes that follow each other is the digest of the leaf.
struct SealedLayout {
    static let version: UInt8 = 1
    static let signerLength = 16
    static let farmLength = 16
    static let nameLength = 32
    static let isEncrypted: UInt8 = 1
    static let leafPrefix: UInt8 = 0
    /// The part that is equal in all entries of a batch.
    static let batch = 1..<91
    static let signer = 1..<17
    static let signature = 27..<91
    static let pathStart = 93
    /// The lengths of a leaf's parts before its payload.
    static let leafHead = 2 + farmLength + nameLength

    let time: Int64
    let count: Int
    let index: Int
    /// Where the path is.
    let path: Range<Int>
    let leaf: Range<Int>
    let flags: UInt8
    let farm: Range<Int>
    let name: Range<Int>
    let payload: Range<Int>

    init(_ bytes: Span<UInt8>) throws(EntryRejection) {
        guard bytes.count <= EntryLimits.entry else { throw .tooLarge }
        guard !bytes.isEmpty else { throw .malformed }
        guard bytes[0] == Self.version else { throw .version }
        guard bytes.count >= Self.pathStart + Self.leafHead else { throw .malformed }
        func number(_ range: Range<Int>) -> UInt64 { range.reduce(0) { $0 << 8 | UInt64(bytes[$1]) } }
        time = Int64(bitPattern: number(17..<25))
        count = Int(number(25..<27))
        index = Int(number(91..<93))
        guard (1...EntryLimits.batch).contains(count), index < count else { throw .malformed }
        let end = Self.pathStart + BatchTree.pathLength(index: index, count: count) * 32
        guard bytes.count >= end + Self.leafHead, bytes[end] == Self.leafPrefix, bytes[end + 1] <= Self.isEncrypted else {
            throw .malformed
        }
        path = Self.pathStart..<end
        leaf = end..<bytes.count
        flags = bytes[end + 1]
        farm = end + 2..<end + 2 + Self.farmLength
        name = farm.upperBound..<farm.upperBound + Self.nameLength
        payload = name.upperBound..<bytes.count
    }

    /// The beginning of a leaf, to which the payload is appended.
    static func leafHead(isEncrypted: Bool, farm: FarmID, name: EntryName) -> [UInt8] {
        [leafPrefix, isEncrypted ? Self.isEncrypted : 0] + farm.octets + name.octets
    }
}
