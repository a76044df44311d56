internal import CLarderOpenSSL
package import HTTPMessage
package import ServerTrust

/// Names a signing key: the beginning of SHA-256 of its public key.
package struct SignerID: Hashable, Sendable, CustomStringConvertible {
    static let count = SealedLayout.signerLength
    let octets: [UInt8]

    init?(_ octets: [UInt8]) {
        guard octets.count == Self.count else { return nil }
        self.octets = octets
    }

    /// - Parameter publicKey: in the encoding of RFC 8032 §5.1.5.
    package init(of publicKey: [UInt8]) { octets = Array(SHA256Digest(of: publicKey).octets.prefix(Self.count)) }

    /// - Returns: `nil` unless the text has 32 hexadecimal digits.
    package init?(_ text: String) {
        guard let octets = Hexadecimal.decode(text) else { return nil }
        self.init(octets)
    }

    package var description: String { Hexadecimal.encode(octets) }
}

/// An Ed25519 key that signs batches of entries. Only nodes that write have one. Descriptions and errors never contain it.
package struct EntrySigningKey: Sendable, CustomStringConvertible {
    package let id: SignerID
    /// In the encoding of RFC 8032 §5.1.5.
    package let publicKey: [UInt8]
    /// When the node begins to sign with the key.
    package let start: Timestamp
    let key: PrivateKey

    /// - Returns: `nil` unless it is an Ed25519 key.
    package init?(_ key: PrivateKey, start: Timestamp) {
        guard let publicKey = Ed25519.publicKey(of: key) else { return nil }
        self.key = key
        self.publicKey = publicKey
        self.start = start
        id = SignerID(of: publicKey)
    }

    /// A random one; `nil` if OpenSSL fails.
    package static func new(start: Timestamp) -> EntrySigningKey? {
        Ed25519.newKey().flatMap { EntrySigningKey($0, start: start) }
    }

    /// - Parameter seed: the private key in the encoding of RFC 8032 §5.1.5.
    init?(seed: [UInt8], start: Timestamp) {
        guard seed.count == Ed25519.keyLength,
            let pointer = ErrorQueue.unchanged(by: { EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count) })
        else { return nil }
        self.init(PrivateKey(owning: pointer), start: start)
    }

    /// The private key in the encoding of RFC 8032 §5.1.5; `nil` if OpenSSL fails.
    var seed: [UInt8]? {
        var seed = [UInt8](repeating: 0, count: Ed25519.keyLength)
        var count = seed.count
        let isGood = ErrorQueue.unchanged { EVP_PKEY_get_raw_private_key(key.pointer, &seed, &count) == 1 }
        return isGood && count == seed.count ? seed : nil
    }

    package var description: String { "signing key \(id)" }
}

/// The signing keys of a node that writes: one that signs, and others that follow it or that it has replaced.
package struct EntrySigningKeys: Sendable {
    /// In the order of their starts.
    package let keys: [EntrySigningKey]

    /// - Returns: `nil` without a key.
    package init?(_ keys: [EntrySigningKey]) {
        guard !keys.isEmpty else { return nil }
        self.keys = keys.sorted { $0.start < $1.start }
    }

    /// The key that signs now. Before the first start, it is the first key.
    package func current(at now: Timestamp) -> EntrySigningKey { keys.last { $0.start <= now } ?? keys[0] }
}

/// The public keys whose entries a node uses, and the keys that are revoked.
package struct TrustedSigners: Sendable {
    package struct Signer: Equatable, Sendable {
        package let publicKey: [UInt8]
        /// What the farm's administrator calls the key; it may be empty.
        package let label: String
        package var id: SignerID { SignerID(of: publicKey) }

        package init(publicKey: [UInt8], label: String) {
            self.publicKey = publicKey
            self.label = label
        }
    }

    package let signers: [Signer]
    package let revoked: [SignerID]
    private let byID: [SignerID: Signer]
    private let revokedIDs: Set<SignerID>

    package init(_ signers: [Signer], revoked: [SignerID] = []) {
        self.signers = signers
        self.revoked = revoked
        byID = Dictionary(signers.map { ($0.id, $0) }) { first, _ in first }
        revokedIDs = Set(revoked)
    }

    /// The key with this name. A key that is both trusted and revoked is revoked.
    package func signer(_ id: SignerID) throws(EntryRejection) -> Signer {
        if revokedIDs.contains(id) { throw .revokedSigner }
        guard let signer = byID[id] else { throw .unknownSigner }
        return signer
    }
}
