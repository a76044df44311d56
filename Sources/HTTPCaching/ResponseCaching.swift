import HTTPMessage

/// Keeps responses for sessions: in memory, in a file, wherever. What is kept and what is used again is not its affair.
public protocol ResponseCaching: Sendable {
    /// What is kept under a key, the newest first.
    func responses(for key: CachedResponse.Key) async -> [CachedResponse]

    /// The body of one whose bytes are not at hand, from its beginning, for one task. What is read stays readable to its end.
    /// - Returns: `nil` where it is gone.
    func body(of response: CachedResponse) -> (any CachedBodyReading)?

    /// When a fetch for this key begins, which is asked for before its request goes out.
    func moment(for key: CachedResponse.Key) -> InvalidationEpoch

    /// Keeps a response whose body is at hand, in the place of one that was made for the same requests (`CachedResponse.replaces`).
    /// - Parameters:
    ///   - response: with its body, and the requests that it was made for.
    ///   - moment: when its fetch began. What was removed since then is not brought back by it (RFC 9111 §4.4).
    /// - Returns: whether it is kept.
    @discardableResult
    func store(_ response: CachedResponse, since moment: InvalidationEpoch) async -> Bool

    /// Begins to keep a response whose body is yet to come.
    /// - Parameters:
    ///   - response: its head, and the requests that it was made for.
    ///   - length: of the body in bytes, where it is known.
    ///   - moment: when its fetch began, as for `store`.
    /// - Returns: `nil` where it is not kept.
    func beginStoring(
        _ response: CachedResponse, length: UInt64?, since moment: InvalidationEpoch
    ) async -> (any CachedBodyWriting)?

    /// Puts a response in the place of its former self, whose body it has (RFC 9111 §4.3.4).
    func freshen(_ old: CachedResponse, as new: CachedResponse, since moment: InvalidationEpoch) async

    /// Forgets one response.
    func remove(_ response: CachedResponse) async

    /// Forgets everything under a key, what is on its way too.
    func remove(_ key: CachedResponse.Key) async
}

/// A kept body that is read in pieces, in their order.
public protocol CachedBodyReading: Sendable {
    /// The next piece; `nil` at the end.
    func next() async throws(CachedBodyLost) -> [UInt8]?
}

/// A kept body cannot be read any more.
public struct CachedBodyLost: Error, Sendable {
    /// It says no more than that.
    public init() {}
}

/// A body on its way into a cache, in pieces and in their order. Let go before its end, it is aborted.
public protocol CachedBodyWriting: Sendable {
    /// Takes the next bytes in, and comes back when more are welcome.
    func append(_ octets: [UInt8]) async

    /// All has come. It can be found from now on or a little later.
    func finish(_ trailers: CachedResponse.Trailers) async

    /// The body broke off.
    func abort()
}

/// How far a cache's removals had come when a fetch began, in its own way of counting.
public struct InvalidationEpoch: Equatable, Sendable {
    /// Of removals that may concern every key.
    public let removals: Int64
    /// Of removals of the key, or of those that it shares its place with.
    public let removalsOfKey: UInt32

    /// Of a cache that counts in its own way.
    public init(removals: Int64 = 0, removalsOfKey: UInt32 = 0) {
        self.removals = removals
        self.removalsOfKey = removalsOfKey
    }
}

/// A response as it is kept, with what has to be known to use it again.
public struct CachedResponse: Sendable {
    /// The target URI in one spelling.
    public struct Key: Hashable, Sendable {
        /// As it is compared.
        public let octets: [UInt8]

        package init(_ octets: [UInt8]) { self.octets = octets }
    }

    /// The fields behind a body.
    public struct Trailers: Sendable {
        package let fields: Fields

        package init(_ fields: Fields) { self.fields = fields }
    }

    package let stored: StoredResponse

    package init(_ stored: StoredResponse) { self.stored = stored }

    /// What it is found by.
    public var key: Key { Key(stored.key) }
    /// Its status code.
    public var status: Int { Int(stored.head.status.code) }
    /// About how much memory it takes, in bytes.
    public var cost: UInt64 { stored.body.length + UInt64(stored.head.fields.bytes.count + stored.preparedHead.count) }
    /// Its body's bytes, where they are at hand.
    public var octets: [UInt8]? {
        if case .bytes(let octets) = stored.body { octets } else { nil }
    }

    /// The same response with its body at hand.
    public func with(_ octets: [UInt8], _ trailers: Trailers) -> CachedResponse {
        CachedResponse(stored.with(body: .bytes(octets), trailers: trailers.fields))
    }

    /// Whether it is for the same requests: the same key, and the same values of the fields that Vary names.
    public func replaces(_ other: CachedResponse) -> Bool {
        stored.key == other.stored.key && stored.nominatedFields == other.stored.nominatedFields
    }

    /// Whether it stands before the other among responses with one key (RFC 9111 §4).
    public func isNewer(than other: CachedResponse) -> Bool { stored.isNewer(than: other.stored) }
}
