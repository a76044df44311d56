internal import HTTPCaching
package import HTTPMessage

/// Distinguishes farms. A farm keeps it when its keys change.
package struct FarmID: Equatable, Sendable, CustomStringConvertible {
    package let octets: [UInt8]

    /// - Returns: `nil` unless there are 16 bytes.
    package init?(_ octets: [UInt8]) {
        guard octets.count == SealedLayout.farmLength else { return nil }
        self.octets = octets
    }

    /// A random one.
    package init() { octets = RandomBytes.make(SealedLayout.farmLength) }

    package var description: String { Hexadecimal.encode(octets) }
}

/// A secret of all nodes of a farm. Keys for names and for encryption are derived from it. Descriptions and errors never contain it.
package struct FarmKey: Sendable, CustomStringConvertible {
    /// Names a key without revealing it.
    package struct ID: Hashable, Sendable, CustomStringConvertible {
        static let count = 8
        let octets: [UInt8]
        package var description: String { Hexadecimal.encode(octets) }
    }

    static let count = 32
    package let id: ID
    /// When the nodes begin to use the key for new names and entries.
    package let start: Timestamp
    let secret: [UInt8]
    let names: KeyedHash
    let sealing: KeyedHash

    /// - Returns: `nil` unless the secret has 32 bytes.
    init?(_ secret: [UInt8], start: Timestamp) {
        guard secret.count == Self.count else { return nil }
        self.secret = secret
        self.start = start
        let hash = KeyedHash(key: secret)
        let context = SHA256Context()
        id = ID(octets: Array(hash.digest(.keyIdentifier, Span(), by: context).octets.prefix(ID.count)))
        names = KeyedHash(key: hash.digest(.names, Span(), by: context).octets)
        sealing = KeyedHash(key: hash.digest(.sealing, Span(), by: context).octets)
    }

    /// A random one.
    package static func new(start: Timestamp) -> FarmKey { FarmKey(RandomBytes.make(count), start: start)! }  // has 32 bytes

    package var description: String { "farm key \(id)" }
}

/// The keys of a farm: one that is used, and others that follow it or that it has replaced.
package struct FarmKeys: Sendable {
    package let farm: FarmID
    /// In the order of their starts.
    package let keys: [FarmKey]

    /// - Returns: `nil` without a key.
    package init?(farm: FarmID, keys: [FarmKey]) {
        guard !keys.isEmpty else { return nil }
        self.farm = farm
        self.keys = keys.sorted { $0.start < $1.start }
    }

    /// The key for new names and entries. Before the first start, it is the first key.
    package func current(at now: Timestamp) -> FarmKey { keys.last { $0.start <= now } ?? keys[0] }

    /// The key that the current one has replaced; `nil` if it has replaced none.
    package func former(at now: Timestamp) -> FarmKey? {
        guard let index = keys.lastIndex(where: { $0.start <= now }), index > 0 else { return nil }
        return keys[index - 1]
    }

    func key(_ id: FarmKey.ID) -> FarmKey? { keys.first { $0.id == id } }
}
