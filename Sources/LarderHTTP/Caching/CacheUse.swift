import HTTPCaching
import HTTPMessage

/// What the session's cache did with a request, in the words of Cache-Status (RFC 9211).
public struct CacheUse: Hashable, Sendable {
    private enum Decision: Hashable, Sendable {
        case fresh
        case stale(StaleReason)
        case forwarded(ForwardReason)
        /// A request with Range, which the session sends to the origin.
        case range
    }

    private let decision: Decision
    private let seconds: Int64?
    /// The status of the origin's response (`fwd-status`), if a stored response is served instead of it: 304 after a validation, or
    /// the status of a failure. `nil` in all other cases.
    public let forwardStatus: Int?
    /// Whether the cache stores the origin's response. A response that `open` returns is stored once its body is read to the end.
    public internal(set) var isStored = false

    /// A stored response is served, or the request is sent for the reason in `decision`.
    init(serving decision: ReuseDecision?, insteadOf status: Status? = nil) {
        forwardStatus = status.map { Int($0.code) }
        switch decision {
        case .fresh(let terms): (self.decision, seconds) = (.fresh, terms.remaining)
        case .staleAllowed(let terms, let reason): (self.decision, seconds) = (.stale(reason), terms.remaining)
        case .validate(let reason), .forward(let reason), .notSatisfiable(let reason), .offlineMiss(let reason):
            (self.decision, seconds) = (.forwarded(reason), nil)
        case nil: (self.decision, seconds) = (.forwarded(.uriMiss), nil)
        }
    }

    /// The origin's response is delivered, though the decision may have been to serve a stored response whose body was lost.
    init(delivering decision: ReuseDecision?) {
        switch decision {
        case .fresh, .staleAllowed: self.init(.forwarded(.uriMiss))
        default: self.init(serving: decision)
        }
    }

    private init(_ decision: Decision) {
        self.decision = decision
        seconds = nil
        forwardStatus = nil
    }

    /// The cache is not used for this request: it has a range, or conditions or content of the caller.
    init(bypassedBy request: PreparedRequest) {
        switch request.body {
        case _ where request.fields.contains(.range): self.init(.range)
        case .none: self.init(.forwarded(.originCondition))
        case .octets, .file, .stream: self.init(.forwarded(.requestContent))
        }
    }

    /// Whether a stored response was served without validation (`hit`): without a request to the origin, or because that request
    /// failed.
    public var isHit: Bool {
        switch decision {
        case .fresh, .stale: true
        case .forwarded, .range: false
        }
    }

    /// Whether the content came from the cache: after a hit, and after a validation with 304.
    public var isFromCache: Bool { isHit || forwardStatus != nil }

    /// Why the request was sent to the origin (`fwd`): `uri-miss`, `vary-miss`, `stale`, `method`, `request`, `bypass` or `partial`.
    /// `nil` after a hit.
    public var forwardReason: String? {
        switch decision {
        case .fresh, .stale: nil
        case .forwarded(let reason): "\(reason.forwardToken)"
        case .range: "request"
        }
    }

    /// A closer reason (`detail`), such as `stale_if_error` for a hit or `request_no_cache` for a sent request. `nil` if there is none.
    public var detail: String? {
        switch decision {
        case .fresh: nil
        case .stale(let reason): "\(reason.word)"
        case .forwarded(let reason): reason.hasDetail ? "\(reason.word)" : nil
        case .range: "range"
        }
    }

    /// How long the stored response stays fresh (`ttl`); negative if it is stale. `nil` unless it is a hit.
    public var timeToLive: Duration? { seconds.map { .seconds($0) } }
}

extension CacheUse: CustomStringConvertible {
    /// The parameters of Cache-Status, such as `hit; ttl=57` and `fwd=stale; fwd-status=304`.
    public var description: String {
        var words = [forwardReason.map { "fwd=\($0)" } ?? "hit"]
        if let forwardStatus { words.append("fwd-status=\(forwardStatus)") }
        if isStored { words.append("stored") }
        if let seconds { words.append("ttl=\(seconds)") }
        if let detail { words.append("detail=\(detail)") }
        return words.joined(separator: "; ")
    }
}
