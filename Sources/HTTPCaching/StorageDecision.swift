/// Why a response is not stored (RFC 9111 §3).
public enum StorageRefusal: UInt8, Sendable, CaseIterable {
    /// Only responses to GET are stored.
    case method
    /// The request had content (T18 in docs/threats.md).
    case requestContent
    /// The request has a field that may select another response and is not part of the key (T18 in docs/threats.md).
    case unkeyedInput
    case requestNoStore
    /// A rule has `store: never`.
    case rule
    case partialContent, notModified
    /// The status depends on this one request (412, 416, …), or is not final.
    case status
    /// The response has must-understand, and Larder does not implement its status.
    case mustUnderstand
    case noStore
    case `private`
    /// The request has Authorization, and no directive allows sharing the response.
    case authorization
    case setCookie
    case varyAny, varyInvalid
    /// Nothing allows storing the response (RFC 9111 §3, last item).
    case notCacheable
    /// The response has neither a lifetime nor a validator and could never be reused.
    case noLifetime
    /// The signature in Location has already expired.
    case signature
    case bodyTooLarge
    /// The head exceeds the limits for a stored head (`StoredHead`).
    case headTooLarge
    /// The response failed a rule's validation.
    case validation
    /// The key was invalidated after the request was sent (§4.4). Or the head of a later part forbids storing the parts as one
    /// response (§3.4).
    case invalidated
    /// The store is too busy to take another body.
    case storeBusy

    package var word: StaticString {
        switch self {
        case .method: "not_stored_method"
        case .requestContent: "request_content"
        case .unkeyedInput: "unkeyed_input"
        case .requestNoStore: "request_no_store"
        case .rule: "store_never"
        case .partialContent: "partial_content"
        case .notModified: "not_modified"
        case .status: "status"
        case .mustUnderstand: "must_understand"
        case .noStore: "no_store"
        case .private: "private"
        case .authorization: "authorization"
        case .setCookie: "set_cookie"
        case .varyAny: "vary_any"
        case .varyInvalid: "vary_invalid"
        case .notCacheable: "not_cacheable"
        case .noLifetime: "no_lifetime"
        case .signature: "signature"
        case .bodyTooLarge: "body_too_large"
        case .headTooLarge: "head_too_large"
        case .validation: "validation"
        case .invalidated: "invalidated"
        case .storeBusy: "store_busy"
        }
    }
}

/// Whether a response is stored. A trivial type (no reference counts).
package enum StorageDecision: Equatable, Sendable {
    /// `usedUnsafe` means that an unsafe rule overrode no-store or private, or permitted sharing a response that sets a cookie (T23 in
    /// docs/threats.md).
    case store(ReuseFacts, usedUnsafe: Bool)
    case doNotStore(StorageRefusal)
}

extension StorageRefusal {
    /// Whether the reason applies to this request only, so that responses stored earlier for other requests stay valid.
    package var isOfRequest: Bool {
        switch self {
        case .method, .requestContent, .unkeyedInput, .requestNoStore, .authorization: true
        default: false
        }
    }
}
