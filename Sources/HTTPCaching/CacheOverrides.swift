import HTTPMessage

/// The changes that rules, settings or a session make to the cache's behavior for one request. Without overrides, RFC 9111 alone
/// decides. A trivial type (no reference counts).
///
/// Each way to override the origin server has its own option. `ignored` overrides `no-store` and `private`, and `setCookie: .always`
/// permits storing a response that sets a cookie. `unsafe` lets a policy or lifetime override `no-cache`, `must-revalidate`,
/// `proxy-revalidate`, `s-maxage` or an explicit lifetime. Nothing overrides the request's own `no-store` or the requirements for
/// requests with Authorization (RFC 9111 §3.5).
public struct CacheOverrides: Equatable, Sendable {
    /// Directives of the origin server that rules can ignore, so that a shared cache stores the response.
    public struct Directives: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// `no-store`.
        public static let noStore = Directives(rawValue: 1 << 0)
        /// `private`.
        public static let `private` = Directives(rawValue: 1 << 1)
    }

    /// Whether a request waits while another client's request fetches the same response.
    public enum Collapsing: Equatable, Sendable {
        case never
        case always
        /// Wait for this time at most, then send the request.
        case within(milliseconds: Int64)
    }

    /// The cache policy; `nil` if not specified, which means `.useProtocol`.
    public var policy: CachePolicy?
    /// Whether the response must not be stored.
    public var storeNever: Bool
    /// The freshness lifetime of a response if the origin server gives no lifetime.
    public var timeToLive: DeltaSeconds?
    /// Freshness lifetimes for specific statuses. They take precedence over `timeToLive`.
    public var statusLifetimes = StatusLifetimes()
    /// The maximum length of a stored body, in bytes.
    public var maximumBodyLength: UInt64?
    /// Which responses with Set-Cookie may be stored; `nil` if not specified, which means `.explicit`.
    public var setCookie: SetCookieStorage?
    /// How long past its lifetime a stored response may be served: while Larder validates it, and after the validation failed.
    public var grace: DeltaSeconds?
    /// Whether a heuristic lifetime is used if the response has none (RFC 9111 §4.2.2); `nil` means yes.
    public var permitsHeuristic: Bool?
    /// Whether requests wait while another client's request fetches the same response; `nil` means `.always`.
    public var collapsing: Collapsing?
    /// The maximum number of variants of one key (RFC 9111 §4.1); `nil` means the store's own limit.
    public var variantLimit: Int?
    /// Whether Larder fetches the rest of a response for the store when a client requests a part; `nil` means no.
    public var fillsParts: Bool?
    /// Directives of the origin server that are ignored.
    public var ignored: Directives = []
    /// The cache is disconnected and sends no request (RFC 9111 §4.2.4); takes precedence over every policy.
    package var isDisconnected = false
    /// How long past its lifetime a disconnected cache uses a response; `nil` means without limit.
    package var offlineStalenessLimit: DeltaSeconds?
    /// Whether `unsafe` was set together with the policy or the lifetime. An `unsafe` never extends to a policy or lifetime from
    /// another rule.
    private(set) var isPolicyUnsafe = false
    private(set) var isTimeToLiveUnsafe = false

    /// Sets a policy and a lifetime that also override the origin server's directives. Every decision that relied on `unsafe` reports
    /// this.
    public var unsafe: Bool {
        get { isPolicyUnsafe || isTimeToLiveUnsafe }
        set {
            isPolicyUnsafe = newValue
            isTimeToLiveUnsafe = newValue
        }
    }

    /// Options that are left out follow RFC 9111.
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

    /// No overrides: RFC 9111 alone decides.
    public static let none = CacheOverrides()

    /// Applies the options that `later` sets; the others stay unchanged.
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

    /// Whether a lifetime is set for all statuses or for some of them. If a later rule sets lifetimes, they replace all of them.
    package var givesLifetime: Bool { timeToLive != nil || !statusLifetimes.isEmpty }

    package func lifetime(of status: Status) -> DeltaSeconds? { statusLifetimes.lifetime(of: status) ?? timeToLive }

    /// Whether the overrides still permit using a stored response that an unsafe rule stored: against a directive of the origin
    /// server, or although it sets a cookie (T23 in docs/threats.md).
    package func permitsUse(of facts: ReuseFacts) -> Bool {
        let flags = facts.flags
        guard !flags.isDisjoint(with: [.noStore, .private, .setCookie]) else { return true }
        if flags.contains(.noStore), !ignored.contains(.noStore) { return false }
        if flags.contains(.private), !ignored.contains(.private) { return false }
        return !flags.contains(.setCookie) || facts.lifetimeSource.isExplicit || setCookie == .always
    }

    /// Requires that a stored response is validated before it is used, unless no request may be forwarded.
    package mutating func validateStored() {
        switch effectivePolicy {
        case .useProtocol, .storedElseLoad: policy = .revalidate
        case .reload, .reloadAll, .storedOnly, .revalidate: break
        }
    }

    package var effectivePolicy: CachePolicy { policy ?? .useProtocol }

    /// Whether the request must not be forwarded, because of only-if-cached (RFC 9111 §5.2.1.7), because of a rule, or because the
    /// cache is disconnected.
    package func forbidsForwarding(of request: RequestDirectives) -> Bool {
        isDisconnected || request.contains(.onlyIfCached) || effectivePolicy == .storedOnly
    }
}
