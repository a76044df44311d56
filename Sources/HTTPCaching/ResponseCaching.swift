import HTTPMessage

/// Keeps responses for sessions: in memory, in a file, wherever. What is kept and what is used again is not its affair.
public protocol ResponseCaching: Sendable {
    /// What is kept under a key, the newest first.
    func responses(for key: CachedResponse.Key) async -> [CachedResponse]

    /// Keeps a response, in the place of one that was made for the same requests (`CachedResponse.replaces`).
    func store(_ response: CachedResponse) async

    /// - Returns: whether there was something.
    @discardableResult
    func remove(_ key: CachedResponse.Key) async -> Bool
}

/// A response as it is kept, with what has to be known to use it again.
public struct CachedResponse: Sendable {
    /// The target URI in one spelling.
    public struct Key: Hashable, Sendable {
        /// As it is compared.
        public let octets: [UInt8]

        package init(_ octets: [UInt8]) { self.octets = octets }
    }

    package let stored: StoredResponse

    package init(_ stored: StoredResponse) { self.stored = stored }

    /// What it is found by.
    public var key: Key { Key(stored.key) }
    /// Its status code.
    public var status: Int { Int(stored.head.status.code) }
    /// About how much memory it takes, in octets.
    public var cost: UInt64 { stored.body.length + UInt64(stored.head.fields.bytes.count + stored.preparedHead.count) }

    /// Whether it is for the same requests: the same key, and the same values of the fields that Vary names.
    public func replaces(_ other: CachedResponse) -> Bool {
        stored.key == other.stored.key && stored.nominatedFields == other.stored.nominatedFields
    }

    /// Whether it stands before the other among responses with one key (RFC 9111 §4).
    public func isNewer(than other: CachedResponse) -> Bool { stored.isNewer(than: other.stored) }
}
