package import HTTPCaching
package import HTTPMessage
internal import ServerTrust

/// What a reader knows before it opens an entry.
package struct EntryExpectation: Sendable {
    /// The cache key of the request.
    package var key: [UInt8]
    /// The farm's epoch.
    package var epoch: [UInt8]
    /// Entries of earlier generations are refused, because purges after them may be unknown.
    package var oldestGeneration: Int64
    /// How long ago the engine stored the entry, by the engine's clock, in milliseconds; `nil` if unknown.
    package var elapsed: Int64?

    package init(key: [UInt8], epoch: [UInt8], oldestGeneration: Int64, elapsed: Int64? = nil) {
        self.key = key
        self.epoch = epoch
        self.oldestGeneration = oldestGeneration
        self.elapsed = elapsed
    }
}

/// An entry that is proved to be what a trusted writer has signed.
package struct OpenedEntry: Sendable {
    package let signer: SignerID
    /// When the batch was signed, by the writer's clock.
    package let signedAt: Timestamp
    /// The response. If `pieces` is set, its body is not usable before `EntryOpener.assemble`.
    package let entry: SharedEntry
    /// The body's pieces, which must be read from the engine; `nil` if the response is complete.
    package let pieces: PiecedBody?
}

/// Verifies, decrypts and decodes entries of the engine. An entry that is not right is refused with a reason, and never partly used.
///
/// One thread at a time may use it.
package final class EntryOpener {
    private let keys: FarmKeys
    private let trusted: TrustedSigners
    private let context = SHA256Context()
    private let aead = AEAD()
    private var known: KnownRoots

    /// - Parameter knownRoots: how many verified signatures the opener remembers.
    package init(keys: FarmKeys, trusted: TrustedSigners, knownRoots: Int = EntryLimits.knownRoots) {
        self.keys = keys
        self.trusted = trusted
        known = KnownRoots(limit: knownRoots)
    }

    /// The number of signatures that were verified, for metrics.
    package private(set) var verifiedSignatures: UInt64 = 0
    /// The number of entries whose signature was known.
    package private(set) var knownSignatures: UInt64 = 0
    package var knownRootCount: Int { known.count }

    package func open(_ bytes: [UInt8], _ expected: EntryExpectation, at now: Timestamp) throws(EntryRejection) -> OpenedEntry {
        let layout = try SealedLayout(bytes.span)
        guard bytes[layout.farm].elementsEqual(keys.farm.octets) else { throw .otherFarm }
        let name = SHA256Words(bytes.span.extracting(layout.name))
        let isOfKey = keys.keys.contains { $0.names.digest(.entryName, expected.key.span, by: context) == name }
        guard isOfKey else { throw .otherKey }
        try checkTime(layout.time, now)
        let id = SignerID(Array(bytes[SealedLayout.signer]))!  // the range has the length of an id
        try checkSignature(layout, bytes, by: try trusted.signer(id))
        let decoded = try decode(layout, bytes, key: expected.key)
        guard decoded.position.epoch == expected.epoch else { throw .otherEpoch }
        guard decoded.position.generation >= expected.oldestGeneration else { throw .oldGeneration }
        let facts = decoded.response.facts
        guard !facts.isStoredByOverride, !facts.isMemoryOnly else { throw .notShareable }
        let signedAt = Timestamp(milliseconds: layout.time)
        let response = try onThisClock(decoded.response, signedAt: signedAt, elapsed: expected.elapsed, now)
        var pieces: PiecedBody?
        if case .pieces(let body) = decoded.body { pieces = body }
        return OpenedEntry(
            signer: id, signedAt: signedAt, entry: SharedEntry(response, decoded.position, chainDigest: decoded.chainDigest),
            pieces: pieces)
    }

    /// The response with its body.
    /// - Parameter pieces: as read from the engine, in the order of the body; `nil` for a piece that is absent.
    package func assemble(_ opened: OpenedEntry, _ pieces: [[UInt8]?]) throws(EntryRejection) -> SharedEntry {
        guard let body = opened.pieces else { return opened.entry }
        guard pieces.count == body.pieceCount else { throw .bodyMissing }
        var key: SHA256Words?
        if let id = body.farmKey {
            guard let farmKey = keys.key(id) else { throw .unknownFarmKey }
            key = farmKey.sealing.digest(.pieceKey, body.identifier.span, by: context)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(body.length))
        for (number, piece) in pieces.enumerated() {
            guard let piece else { throw .bodyMissing }
            let (count, digest) = (body.range(ofPiece: number).count, body.digests[number])
            guard piece.count == count + (key == nil ? 0 : AEAD.tagLength),
                context.digest(piece.span) == SHA256Words(digest.span)
            else { throw .bodyDamaged }
            guard let key else {
                bytes += piece
                continue
            }
            guard let plain = aead.open(piece.span, key: key, number: number, context: Span()) else { throw .bodyDamaged }
            bytes += plain
        }
        let response = opened.entry.response.with(body: .bytes(bytes), trailers: opened.entry.response.trailers)
        return SharedEntry(response, opened.entry.position, chainDigest: opened.entry.chainDigest)
    }

    /// A certificate chain of the engine.
    /// - Parameter digest: the chain's digest in an opened entry.
    package func openChain(_ bytes: [UInt8], digest: [UInt8]) throws(EntryRejection) -> RecordedChain {
        guard let flags = bytes.first, flags <= SealedLayout.isEncrypted else { throw .malformed }
        guard bytes.count <= RecordedChain.octetLimit + 128 else { throw .tooLarge }
        let octets =
            flags == SealedLayout.isEncrypted
            ? try decrypt(bytes, 1..<bytes.count, context: 0..<1, .chainKey) : Array(bytes[1...])
        guard let chain = RecordedChain(octets), chain.digest == digest else { throw .bodyDamaged }
        return chain
    }

    private func checkTime(_ time: Int64, _ now: Timestamp) throws(EntryRejection) {
        guard time >= 0 else { throw .malformed }
        if time > now.milliseconds + EntryLimits.clockDifference { throw .clock }
        if time < now.milliseconds - EntryLimits.lifetime { throw .tooOld }
    }

    private func checkSignature(
        _ layout: SealedLayout, _ bytes: [UInt8], by signer: TrustedSigners.Signer
    ) throws(EntryRejection) {
        let leaf = context.digest(bytes.span.extracting(layout.leaf))
        let root = BatchTree.root(
            leaf: leaf, index: layout.index, count: layout.count, path: bytes.span.extracting(layout.path), by: context)
        let mark = KnownRoots.mark(batch: bytes.span.extracting(SealedLayout.batch), root: root, by: context)
        if known.contains(mark) {
            knownSignatures += 1
            return
        }
        let message = BatchTree.message(root: root, farm: keys.farm, time: layout.time, count: layout.count)
        verifiedSignatures += 1
        guard Ed25519.accepts(Array(bytes[SealedLayout.signature]), of: message, by: signer.publicKey) else {
            throw .signature
        }
        known.insert(mark)
    }

    private func decode(
        _ layout: SealedLayout, _ bytes: [UInt8], key: [UInt8]
    ) throws(EntryRejection) -> PayloadCoding.Decoded {
        guard layout.flags == SealedLayout.isEncrypted else { return try PayloadCoding.decode(bytes, layout.payload, key: key) }
        let context = layout.leaf.lowerBound..<layout.payload.lowerBound
        let plain = try decrypt(bytes, layout.payload, context: context, .headKey)
        return try PayloadCoding.decode(plain, 0..<plain.count, key: key)
    }

    /// The reverse of `EntrySealer.encrypt`.
    private func decrypt(
        _ bytes: [UInt8], _ range: Range<Int>, context: Range<Int>, _ purpose: KeyedHash.Purpose
    ) throws(EntryRejection) -> [UInt8] {
        var reader = ByteReader(bytes, range)
        let id = FarmKey.ID(octets: try reader.array(FarmKey.ID.count))
        let salt = try reader.range(32)
        guard let farmKey = keys.key(id) else { throw .unknownFarmKey }
        let key = farmKey.sealing.digest(purpose, bytes.span.extracting(salt), by: self.context)
        let sealed = bytes.span.extracting(salt.upperBound..<range.upperBound)
        guard let plain = aead.open(sealed, key: key, number: 0, context: bytes.span.extracting(context)) else {
            throw .decryption
        }
        return plain
    }

    /// The response with its times on this node's clock, so that its age is right although the writer's clock differs.
    ///
    /// With the engine's clock, the age is exact. Without it, a response never seems to have been received after now. A response may seem
    /// older than it is, but never younger by more than the allowed difference of the clocks.
    private func onThisClock(
        _ response: StoredResponse, signedAt: Timestamp, elapsed: Int64?, _ now: Timestamp
    ) throws(EntryRejection) -> StoredResponse {
        let latest = now.milliseconds - max(0, min(elapsed ?? 0, EntryLimits.lifetime))
        var shift = latest - signedAt.milliseconds
        if elapsed == nil { shift = min(shift, 0) }
        // The engine is not trusted: it cannot make a response younger by more than the clocks may differ.
        if shift > EntryLimits.clockDifference { throw .clock }
        return shift == 0 ? response : response.received(later: shift)
    }
}
