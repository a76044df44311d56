package import HTTPCaching

/// A response of the shared store, with its place in the farm's history.
package struct SharedEntry: Sendable {
    /// The response; its body is in memory.
    package let response: StoredResponse
    package let position: EntryPosition
    /// The digest of the origin's certificate chain; `nil` if none was recorded. The chain itself is an object of its own.
    package let chainDigest: [UInt8]?

    package init(_ response: StoredResponse, at position: EntryPosition) {
        self.init(response, position, chainDigest: response.chain?.digest)
    }

    init(_ response: StoredResponse, _ position: EntryPosition, chainDigest: [UInt8]?) {
        self.response = response
        self.position = position
        self.chainDigest = chainDigest
    }
}

/// When an entry was fetched, in the order of the farm's purges and of the key's invalidations.
package struct EntryPosition: Equatable, Sendable {
    /// The farm's epoch: it changes if the engine loses its data.
    package let epoch: [UInt8]
    /// The number of the farm's last purge when the fetch began.
    package let generation: Int64
    /// The fence of the lease under which the response was fetched; it grows with each lease and each invalidation of the key.
    package let fence: [UInt8]

    /// - Parameters:
    ///   - epoch: at most 32 bytes.
    ///   - fence: at most 32 bytes.
    package init(epoch: [UInt8], generation: Int64, fence: [UInt8]) {
        self.epoch = epoch
        self.generation = generation
        self.fence = fence
    }
}

/// A long body in the shared store: pieces under names of their own.
///
/// A response that is freshened by a 304 gets a new entry with the same pieces.
package struct PiecedBody: Equatable, Sendable {
    /// The prefix of the names under which the engine holds the pieces. It is random, so that two bodies never share a name.
    package var name: [UInt8] { Array(identifier.prefix(16)) }
    package let length: UInt64
    package var pieceCount: Int { digests.count }
    /// Also the salt of the key that encrypts the pieces.
    let identifier: [UInt8]
    /// The farm key whose derivative encrypts the pieces; `nil` if they are not encrypted.
    let farmKey: FarmKey.ID?
    /// SHA-256 of each piece as the engine holds it.
    let digests: [[UInt8]]
}
