/// What rules, settings or a session change in the cache's behaviour for one request. Without any, RFC 9111 alone decides.
///
/// Unless `unsafe` is set, nothing here leads past `no-store`, `private`, `no-cache`, `must-revalidate`, `proxy-revalidate`,
/// `s-maxage` or an explicit lifetime of the origin server; and nothing at all leads past the request's own `no-store`
/// or the rules on requests with Authorization (RFC 9111 §3.5).
public struct CacheOverrides: Equatable, Sendable {
    /// `nil` where nothing was said, which means `.useProtocol`.
    public var policy: CachePolicy?
    /// The response is not stored.
    public var storeNever: Bool
    /// The freshness lifetime of a response to which the origin server gave none.
    public var timeToLive: DeltaSeconds?
    /// A longer body is not stored. In octets.
    public var maximumBodyLength: UInt64?
    /// `nil` where nothing was said, which means `.explicit`.
    public var setCookie: SetCookieStorage?
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

    public init(
        policy: CachePolicy? = nil, storeNever: Bool = false, timeToLive: DeltaSeconds? = nil,
        maximumBodyLength: UInt64? = nil, setCookie: SetCookieStorage? = nil, unsafe: Bool = false
    ) {
        self.policy = policy
        self.storeNever = storeNever
        self.timeToLive = timeToLive
        self.maximumBodyLength = maximumBodyLength
        self.setCookie = setCookie
        self.unsafe = unsafe
    }

    public static let none = CacheOverrides()

    /// Takes over what `later` says; where it says nothing, what was said before stays.
    public mutating func merge(_ later: CacheOverrides) {
        if let policy = later.policy {
            self.policy = policy
            isPolicyUnsafe = later.isPolicyUnsafe
        }
        if let timeToLive = later.timeToLive {
            self.timeToLive = timeToLive
            isTimeToLiveUnsafe = later.isTimeToLiveUnsafe
        }
        storeNever = later.storeNever || storeNever
        maximumBodyLength = later.maximumBodyLength ?? maximumBodyLength
        setCookie = later.setCookie ?? setCookie
    }

    package var effectivePolicy: CachePolicy { policy ?? .useProtocol }
}
