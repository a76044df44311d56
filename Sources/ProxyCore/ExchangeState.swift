import HTTPCaching
import HTTPMessage
import ProxyPolicy

// The state of an exchange, in values that `Exchange.begin` replaces by new ones.

/// State that most requests do not change. To check that it is unchanged costs less than to release empty values.
protocol RareState {
    init()
    /// Whether the state is still the same as after `init`.
    var isEmpty: Bool { get }
}

extension RareState {
    mutating func reset() { if !isEmpty { self = Self() } }
}

/// The request without its head: its content, its client, and its purpose.
package struct RequestState: RareState, Sendable {
    package internal(set) var body: BodyLength = .none
    /// The client, if its connection identifies it.
    package internal(set) var sender: RequestSender?
    /// The name and password of the client, until they are verified.
    package internal(set) var credentials: BasicCredentials?
    package internal(set) var purge: Purge?
    /// Whether the request asks to switch protocols.
    package internal(set) var isForSwitch = false
    /// Set if the rules deny the request: it may get only a recorded or stored response.
    package internal(set) var denial: Denial?
    /// Whether an approver has allowed the request, or is asked before a fetch.
    package internal(set) var approval = Approval.none
    /// The limit of a rule that ended the request or cut its response.
    package internal(set) var limitRefusal: LimitRefusal?

    package enum Approval: UInt8, Sendable {
        case none
        /// An approver is asked before a request that is not recorded is forwarded, with its content held or streamed.
        case beforeFetch, beforeStreamedFetch
        case given
    }

    package struct Purge: Sendable {
        package let keys: [[UInt8]]
        /// How many stored responses were purged; `nil` before the purge.
        var count: Int?
    }

    @inline(__always)
    var isEmpty: Bool {
        guard case .none = body else { return false }
        return sender == nil && credentials == nil && purge == nil && denial == nil && !isForSwitch && limitRefusal == nil
            && approval == .none
    }
}

/// The decision of the cache: which stored response it uses, and how.
package struct CacheState: Sendable {
    /// The stored response that is delivered or validated.
    package internal(set) var selected: StoredResponse?
    /// The length of the content of `selected`, if it differs from that of its body. The lengths differ for a pending body, and
    /// for a body that was read to its end for a transform. They also differ for a replayed response that has no Content-Length
    /// or was cut off.
    package internal(set) var selectedLength: BodyLength?
    /// The facts of the response that is being stored; `nil` if no response is being stored.
    package internal(set) var facts: ReuseFacts?
    /// Whether the request to the origin validates `selected`.
    var isValidating = false
    /// Whether the stored response must not be used without validation, so that a later failure is reported as a failed
    /// validation.
    var failsValidation = false
    /// Whether this exchange makes the fetch for its key that other requests may join.
    var isLeading = false
    /// Whether `selected` came from another request's fetch.
    var isCollapsed = false
    var collapsing = CacheStatus.Collapsing.none
    /// The fault to send unless the trust policy accepts the recorded chain of `selected`.
    var faultUnlessAccepted: Fault?
}

/// The stored responses under the key.
struct StoredUnderKey: RareState, Sendable {
    /// The whole responses, newest first: a 304 may identify several of them (RFC 9111 §4.3.4).
    var siblings: [StoredResponse] = []
    /// The responses that are stored in part.
    var partials: [PartialResponse] = []
    /// The bodies that are being stored, if the request is for a part.
    var bodiesUnderWay: [BodyUnderWay] = []

    var isEmpty: Bool { siblings.isEmpty && partials.isEmpty && bodiesUnderWay.isEmpty }
}

/// The changes that the store must make.
package struct StoreChanges: RareState, Sendable {
    /// The stored responses that a 304, or a 200 to HEAD, has freshened, oldest first.
    package internal(set) var freshened: [Freshened] = []
    /// The stored responses to remove: a 304 forbids storing them, or they are outdated.
    package internal(set) var removed: [StoredResponse] = []
    /// The stored responses of an older representation than the one that is being stored. They are removed once the body of the new
    /// response has arrived, even if the store does not accept that body.
    var replaced: [StoredResponse] = []
    /// The keys that an unsafe request invalidates.
    package internal(set) var invalidatedKeys: [[UInt8]] = []

    /// A stored response that was freshened, and the one that replaces it.
    package struct Freshened: Sendable {
        package let old: StoredResponse
        package let new: StoredResponse
    }

    var isEmpty: Bool { freshened.isEmpty && removed.isEmpty && replaced.isEmpty && invalidatedKeys.isEmpty }
}

/// How stored parts, and parts from the origin, make the response.
package struct RangeState: RareState, Sendable {
    /// The body that is being stored for another request, and from which this request is answered.
    package internal(set) var joinedBody: BodyUnderWay?
    /// Which bytes come from a stored part, and which from the origin.
    package internal(set) var completion: RangeCompletion?
    /// If the response is stored as a part, the range of this part in the representation.
    package internal(set) var part: Part?
    /// The head of the complete response, if only `part` of it is stored.
    var wholeHead: ResponseHead?

    package struct Part: Equatable, Sendable {
        package let start: UInt64
        package let whole: UInt64
    }

    var isEmpty: Bool { joinedBody == nil && completion == nil && part == nil && wholeHead == nil }
}

/// The request to the origin, and its response, apart from the response's head.
package struct UpstreamState: RareState, Sendable {
    /// Whether the request was sent. Until then, only `trustRefusal` may be set.
    var isAsked = false
    package internal(set) var requestTime = Timestamp(milliseconds: 0)
    package internal(set) var body: BodyLength = .none
    /// The length of the complete body, if the client may get only a part of it. Set if the body is gathered to be checked, recorded, or
    /// stored in place of the part.
    var wholeLength: UInt64?
    /// The mark of the trust policy that accepted the server; 0 without TLS.
    package internal(set) var trust: UInt64 = 0
    /// The server's certificate chain, to be stored with the response; `nil` without TLS.
    package internal(set) var chain: RecordedChain?
    /// Why the server is not trusted.
    package internal(set) var trustRefusal: TrustRefusal?
    /// How long the origin asks a background fetch to wait after an error, in milliseconds.
    package internal(set) var retryAfter: Int64?
    /// How the body was resumed after an interruption.
    var continuation: BodyResumption?

    var isEmpty: Bool { !isAsked && trustRefusal == nil }
}

/// The origins whose trust policy was looked up last. The results are valid only for the settings in the context of the exchange.
struct OriginMemos: Sendable {
    /// An https origin, with the mark of its policy.
    var trust: (origin: OriginMemo, mark: UInt64)?
    /// An http origin to which requests in plain text are allowed.
    var plaintext: OriginMemo?
}
