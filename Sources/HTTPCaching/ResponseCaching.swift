import HTTPMessage

/// A store of responses for sessions, in memory, in a file or elsewhere. The session decides what to store and what to reuse.
public protocol ResponseCaching: Sendable {
    /// The responses stored under a key, newest first.
    func responses(for key: CachedResponse.Key) async -> [CachedResponse]

    /// Opens the body of a response whose `octets` are not in memory. One task reads the body, from the first byte. An open body stays
    /// readable to its end.
    /// - Returns: `nil` if the body is gone.
    func body(of response: CachedResponse) -> (any CachedBodyReading)?

    /// The current invalidation epoch of this key. Call it before sending the request whose response is to be stored.
    func moment(for key: CachedResponse.Key) -> InvalidationEpoch

    /// Stores a response with its body in memory, replacing one for the same requests (`CachedResponse.replaces`).
    /// - Parameters:
    ///   - response: the response with its body, and with the data that says for which requests it may be reused.
    ///   - moment: the invalidation epoch when the fetch began. The response is not stored if it was invalidated since then (RFC 9111
    ///     §4.4).
    /// - Returns: whether the response is stored.
    @discardableResult
    func store(_ response: CachedResponse, since moment: InvalidationEpoch) async -> Bool

    /// Starts storing a response whose body has not arrived yet.
    /// - Parameters:
    ///   - response: the head of the response, with the data that says for which requests it may be reused.
    ///   - length: the length of the body in bytes; `nil` if unknown.
    ///   - moment: the invalidation epoch when the fetch began, as for `store`.
    /// - Returns: the writer for the body; `nil` if the response is not stored.
    func beginStoring(
        _ response: CachedResponse, length: UInt64?, since moment: InvalidationEpoch
    ) async -> (any CachedBodyWriting)?

    /// Replaces a stored response with its freshened version, which has the same body (RFC 9111 §4.3.4).
    func freshen(_ old: CachedResponse, as new: CachedResponse, since moment: InvalidationEpoch) async

    /// Removes one response.
    func remove(_ response: CachedResponse) async

    /// Removes all responses under a key, including those whose bodies are still arriving.
    func remove(_ key: CachedResponse.Key) async

    /// Removes all responses, including those whose bodies are still arriving.
    /// - Returns: whether any response was removed.
    @discardableResult
    func removeAll() async -> Bool

    /// How much the cache holds now.
    func statistics() async -> CacheStatistics
}

/// A stored body that is read in pieces, in order.
public protocol CachedBodyReading: Sendable {
    /// The next piece; `nil` at the end.
    func next() async throws(CachedBodyLost) -> [UInt8]?
}

/// A stored body can no longer be read.
public struct CachedBodyLost: Error, Sendable {
    /// Creates the error; it has no details.
    public init() {}
}

/// A body that is being stored, in pieces and in order. Releasing this object before `finish` aborts the storing.
public protocol CachedBodyWriting: Sendable {
    /// Appends the next bytes; returns when the cache can take more.
    func append(_ octets: [UInt8]) async

    /// Ends the body, which is complete. The response can be found from now on or shortly after.
    func finish(_ trailers: CachedResponse.Trailers) async

    /// Discards the body, which is incomplete.
    func abort()
}

/// An invalidation epoch: a cache's counts of removals when a fetch began. Only the cache that made the epoch can interpret it.
public struct InvalidationEpoch: Equatable, Sendable {
    /// Counts removals that may affect every key.
    public let removals: Int64
    /// Counts removals of the key, or of all the keys that share this key's counter.
    public let removalsOfKey: UInt32

    /// Creates an epoch, for caches with their own counters.
    public init(removals: Int64 = 0, removalsOfKey: UInt32 = 0) {
        self.removals = removals
        self.removalsOfKey = removalsOfKey
    }
}

/// A response as stored, with the data needed to reuse it.
public struct CachedResponse: Sendable {
    /// The normalized target URI.
    public struct Key: Hashable, Sendable {
        /// The bytes of the key.
        public let octets: [UInt8]

        package init(_ octets: [UInt8]) { self.octets = octets }
    }

    /// The trailer fields of a response.
    public struct Trailers: Sendable {
        package let fields: Fields

        package init(_ fields: Fields) { self.fields = fields }
    }

    package let stored: StoredResponse

    package init(_ stored: StoredResponse) { self.stored = stored }

    /// The key under which the response is stored.
    public var key: Key { Key(stored.key) }
    /// The status code of the response.
    public var status: Int { Int(stored.head.status.code) }
    /// The approximate memory use in bytes.
    public var cost: UInt64 { stored.body.length + UInt64(stored.head.fields.bytes.count + stored.preparedHead.count) }
    /// The bytes of the body, if they are in memory.
    public var octets: [UInt8]? {
        if case .bytes(let octets) = stored.body { octets } else { nil }
    }

    /// The same response with its body in memory.
    public func with(_ octets: [UInt8], _ trailers: Trailers) -> CachedResponse {
        CachedResponse(stored.with(body: .bytes(octets), trailers: trailers.fields))
    }

    /// Whether this response and the other one are for the same requests: the same key, and the same values of the fields that Vary names.
    public func replaces(_ other: CachedResponse) -> Bool {
        stored.key == other.stored.key && stored.nominatedFields == other.stored.nominatedFields
    }

    /// Whether this response comes before the other one among responses with one key (RFC 9111 §4).
    public func isNewer(than other: CachedResponse) -> Bool { stored.isNewer(than: other.stored) }
}
