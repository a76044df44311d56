import HTTPMessage

/// What rules, settings or a session change in the cache's behaviour for one request. Without any, RFC 9111 alone decides.
/// Trivial.
///
/// Each override of the origin server's words is a word of its own: `ignored` for `no-store` and `private`, `setCookie: .always`,
/// and `unsafe` for a policy or a lifetime that holds against `no-cache`, `must-revalidate`, `proxy-revalidate`, `s-maxage` or an
/// explicit lifetime. Nothing at all leads past the request's own `no-store` or the rules on requests with Authorization
/// (RFC 9111 §3.5).
public struct CacheOverrides: Equatable, Sendable {
    /// Directives of the origin server that do not keep a shared cache from storing.
    public struct Directives: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// `no-store`.
        public static let noStore = Directives(rawValue: 1 << 0)
        /// `private`.
        public static let `private` = Directives(rawValue: 1 << 1)
    }

    /// Whether a request waits for another's fetch of the same.
    public enum Collapsing: Equatable, Sendable {
        case never
        case always
        /// For so long; then it asks for itself.
        case within(milliseconds: Int64)
    }

    /// `nil` where nothing was said, which means `.useProtocol`.
    public var policy: CachePolicy?
    /// The response is not stored.
    public var storeNever: Bool
    /// The freshness lifetime of a response to which the origin server gave none.
    public var timeToLive: DeltaSeconds?
    /// The same for the statuses that are named here, before `timeToLive`.
    public var statusLifetimes = StatusLifetimes()
    /// A longer body is not stored. In bytes.
    public var maximumBodyLength: UInt64?
    /// `nil` where nothing was said, which means `.explicit`.
    public var setCookie: SetCookieStorage?
    /// How long past its lifetime a stored response is served while it is validated, and where that fails.
    public var grace: DeltaSeconds?
    /// Whether a lifetime is guessed where none is given (RFC 9111 §4.2.2); `nil` means that it is.
    public var permitsHeuristic: Bool?
    /// `nil` means `.always`.
    public var collapsing: Collapsing?
    /// How many variants of one key are kept (RFC 9111 §4.1); `nil` is the store's own bound.
    public var variantLimit: Int?
    /// Whether the rest of a response of which a part was asked for is fetched for the store; `nil` means that it is not.
    public var fillsParts: Bool?
    /// Directives of the origin server's that are passed over.
    public var ignored: Directives = []
    /// Nothing may leave: the cache is disconnected (RFC 9111 §4.2.4), which holds before every policy.
    package var isDisconnected = false
    /// How long past its lifetime a response is used where nothing may leave; `nil`: however long.
    package var offlineStalenessLimit: DeltaSeconds?
    /// The policy or the lifetime beside which `unsafe` was said; it never spreads to what another rule said.
    private(set) var isPolicyUnsafe = false
    private(set) var isTimeToLiveUnsafe = false

    /// Policy and lifetime also hold against what the origin server said. Every decision that made use of it says so.
    public var unsafe: Bool {
        get { isPolicyUnsafe || isTimeToLiveUnsafe }
        set {
            isPolicyUnsafe = newValue
            isTimeToLiveUnsafe = newValue
        }
    }

    /// What is left out is as RFC 9111 says.
    public init(
        policy: CachePolicy? = nil, storeNever: Bool = false, timeToLive: DeltaSeconds? = nil,
        maximumBodyLength: UInt64? = nil, setCookie: SetCookieStorage? = nil, ignored: Directives = [], unsafe: Bool = false
    ) {
        self.policy = policy
        self.storeNever = storeNever
        self.timeToLive = timeToLive
        self.maximumBodyLength = maximumBodyLength
        self.setCookie = setCookie
        self.ignored = ignored
        self.unsafe = unsafe
    }

    /// RFC 9111 alone.
    public static let none = CacheOverrides()

    /// Takes over what `later` says; where it says nothing, what was said before stays.
    public mutating func merge(_ later: CacheOverrides) {
        if let policy = later.policy {
            self.policy = policy
            isPolicyUnsafe = later.isPolicyUnsafe
        }
        if later.givesLifetime {
            timeToLive = later.timeToLive
            statusLifetimes = later.statusLifetimes
            isTimeToLiveUnsafe = later.isTimeToLiveUnsafe
        }
        storeNever = later.storeNever || storeNever
        maximumBodyLength = later.maximumBodyLength ?? maximumBodyLength
        setCookie = later.setCookie ?? setCookie
        grace = later.grace ?? grace
        permitsHeuristic = later.permitsHeuristic ?? permitsHeuristic
        collapsing = later.collapsing ?? collapsing
        variantLimit = later.variantLimit ?? variantLimit
        fillsParts = later.fillsParts ?? fillsParts
        ignored.formUnion(later.ignored)
        isDisconnected = later.isDisconnected || isDisconnected
        offlineStalenessLimit = later.offlineStalenessLimit ?? offlineStalenessLimit
    }

    /// A lifetime for all statuses or for some: one word, which a later one takes the place of as a whole.
    package var givesLifetime: Bool { timeToLive != nil || !statusLifetimes.isEmpty }

    package func lifetime(of status: Status) -> DeltaSeconds? { statusLifetimes.lifetime(of: status) ?? timeToLive }

    /// Whether a response that was stored past a word of the origin server's, or past T23, may be used still.
    package func permitsUse(of facts: ReuseFacts) -> Bool {
        let flags = facts.flags
        guard !flags.isDisjoint(with: [.noStore, .private, .setCookie]) else { return true }
        if flags.contains(.noStore), !ignored.contains(.noStore) { return false }
        if flags.contains(.private), !ignored.contains(.private) { return false }
        return !flags.contains(.setCookie) || facts.lifetimeSource.isExplicit || setCookie == .always
    }

    package var effectivePolicy: CachePolicy { policy ?? .useProtocol }

    /// Whether the request must be answered from the store or not at all (RFC 9111 §5.2.1.7, a rule, or since nothing may leave).
    package func forbidsForwarding(of request: RequestDirectives) -> Bool {
        isDisconnected || request.contains(.onlyIfCached) || effectivePolicy == .storedOnly
    }
}
