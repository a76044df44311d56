package import HTTPCaching
package import HTTPMessage
internal import ServerTrust

/// An entry that waits for the signature of its batch.
package struct PreparedEntry: Sendable {
    /// The name under which the entry is stored.
    package let name: EntryName
    /// Distinguishes it from the other variants of its key.
    package let variant: EntryName
    package let position: EntryPosition
    /// The pieces of a new body that is not a part of its entry; store them before the entry.
    package let pieces: EntryPieces?
    let leaf: [UInt8]
    let digest: SHA256Words
}

/// The pieces of a body in the order of the body, as the engine holds them.
package struct EntryPieces: Sendable {
    package let body: PiecedBody
    package let pieces: [[UInt8]]
}

/// An entry as the engine holds it.
package struct SealedEntry: Sendable {
    package let prepared: PreparedEntry
    package let bytes: [UInt8]
}

/// Makes entries of stored responses. Only a node with a signing key has one.
///
/// One thread at a time may use it.
package final class EntrySealer {
    private let keys: FarmKeys
    private let signing: EntrySigningKeys
    private let isEncrypting: Bool
    private let names: EntryNames
    private let context = SHA256Context()
    private let aead = AEAD()

    /// - Parameter isEncrypting: whether heads and bodies are encrypted.
    package init(keys: FarmKeys, signing: EntrySigningKeys, isEncrypting: Bool) {
        self.keys = keys
        self.signing = signing
        self.isEncrypting = isEncrypting
        names = EntryNames(keys)
    }

    /// Encodes a response, and encrypts it if the farm encrypts. `seal` signs it.
    /// - Parameters:
    ///   - entry: the response, whose body is in memory unless `body` is given.
    ///   - body: the pieces that the engine already has, for a response that was freshened.
    /// - Throws: `tooLarge`, or `bodyMissing` if the body is not in memory.
    package func prepare(_ entry: SharedEntry, body: PiecedBody? = nil, at now: Timestamp) throws(EntryRejection) -> PreparedEntry
    {
        let farmKey = keys.current(at: now)
        var pieces: EntryPieces?
        let encoded: PayloadCoding.Body
        if let body {
            encoded = .pieces(body)
        } else {
            guard case .bytes(let bytes) = entry.response.body else { throw .bodyMissing }
            guard bytes.count <= EntryLimits.body else { throw .tooLarge }
            if bytes.count <= EntryLimits.inlineBody {
                encoded = .inline(bytes)
            } else {
                let made = makePieces(bytes, farmKey)
                pieces = made
                encoded = .pieces(made.body)
            }
        }
        let payload = try PayloadCoding.encode(entry, body: encoded)
        let name = names.name(of: entry.response.key, at: now)
        var leaf = SealedLayout.leafHead(isEncrypted: isEncrypting, farm: keys.farm, name: name)
        if isEncrypting { encrypt(payload, farmKey, .headKey, into: &leaf) } else { leaf += payload }
        let longestPath = 8 * 32
        guard SealedLayout.pathStart + longestPath + leaf.count <= EntryLimits.entry else { throw .tooLarge }
        return PreparedEntry(
            name: name, variant: names.variant(entry.response.nominatedFields, at: now), position: entry.position,
            pieces: pieces, leaf: leaf, digest: context.digest(leaf.span))
    }

    /// Signs a batch of 1 to 256 entries.
    /// - Returns: the entries in the same order; `nil` if OpenSSL cannot sign.
    package func seal(_ batch: [PreparedEntry], at now: Timestamp) -> [SealedEntry]? {
        let tree = BatchTree(batch.map(\.digest), by: context)
        let key = signing.current(at: now)
        let message = BatchTree.message(root: tree.root, farm: keys.farm, time: now.milliseconds, count: batch.count)
        guard let signature = Ed25519.signature(of: message, by: key.key) else { return nil }
        var head = [SealedLayout.version] + key.id.octets
        head.append(bigEndian: now.milliseconds)
        head.append(bigEndian: UInt16(batch.count))
        head += signature
        return batch.enumerated().map { index, entry in
            let path = tree.path(of: index)
            var bytes: [UInt8] = []
            bytes.reserveCapacity(head.count + 2 + path.count * 32 + entry.leaf.count)
            bytes += head
            bytes.append(bigEndian: UInt16(index))
            for digest in path { bytes += digest.octets }
            bytes += entry.leaf
            return SealedEntry(prepared: entry, bytes: bytes)
        }
    }

    /// A certificate chain as the engine holds it, under `EntryNames.chain`. It needs no signature: entries contain its digest.
    package func seal(_ chain: RecordedChain, at now: Timestamp) -> [UInt8] {
        var output: [UInt8] = [isEncrypting ? SealedLayout.isEncrypted : 0]
        if isEncrypting {
            encrypt(chain.octets, keys.current(at: now), .chainKey, into: &output)
        } else {
            output += chain.octets
        }
        return output
    }

    /// Appends the farm key's id, a salt, and the ciphertext.
    ///
    /// The salt is an HMAC of random bytes and of the plain bytes. If the random bytes repeat, as they may in two copies of one virtual
    /// machine, then a salt repeats only for equal plain bytes, and no two messages share a key and a nonce.
    private func encrypt(_ plain: [UInt8], _ farmKey: FarmKey, _ purpose: KeyedHash.Purpose, into output: inout [UInt8]) {
        let context = output
        let salt = farmKey.sealing.digest(.salt, (RandomBytes.make(32) + plain).span, by: self.context)
        output += farmKey.id.octets
        output += salt.octets
        let key = salt.withBytes { farmKey.sealing.digest(purpose, $0, by: self.context) }
        aead.seal(plain.span, key: key, number: 0, context: context.span, into: &output)
    }

    private func makePieces(_ bytes: [UInt8], _ farmKey: FarmKey) -> EntryPieces {
        // As for the salt of a head, both the random bytes and the content must repeat before an identifier does.
        let content = context.digest(RandomBytes.make(32).span, bytes.span)
        let identifier = content.withBytes { farmKey.sealing.digest(.salt, $0, by: context) }
        let key = identifier.withBytes { farmKey.sealing.digest(.pieceKey, $0, by: context) }
        var pieces: [[UInt8]] = []
        var digests: [[UInt8]] = []
        for start in stride(from: 0, to: bytes.count, by: EntryLimits.piece) {
            let plain = bytes.span.extracting(start..<min(start + EntryLimits.piece, bytes.count))
            var piece: [UInt8] = []
            if isEncrypting {
                aead.seal(plain, key: key, number: pieces.count, context: Span(), into: &piece)
            } else {
                piece = plain.withUnsafeBufferPointer { Array($0) }
            }
            digests.append(context.digest(piece.span).octets)
            pieces.append(piece)
        }
        let body = PiecedBody(
            length: UInt64(bytes.count), identifier: identifier.octets, farmKey: isEncrypting ? farmKey.id : nil,
            digests: digests)
        return EntryPieces(body: body, pieces: pieces)
    }
}
