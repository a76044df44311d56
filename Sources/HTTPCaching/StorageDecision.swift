/// Why a response is not stored (RFC 9111 §3).
package enum StorageRefusal: UInt8, Sendable, CaseIterable {
    /// Only responses to GET are stored.
    case method
    /// The request had content (T18).
    case requestContent
    /// The request has a field that may select another response without standing in the key (T18).
    case unkeyedInput
    case requestNoStore
    /// `store: never`.
    case rule
    case partialContent, notModified
    /// A status that belongs to this one request (412, 416, …) or that is not final.
    case status
    /// must-understand beside a status that is not understood.
    case mustUnderstand
    case noStore
    case `private`
    /// A request with Authorization, and no directive that lets the response be shared.
    case authorization
    case setCookie
    case varyAny, varyInvalid
    /// Nothing says that it may be stored (§3, last item).
    case notCacheable
    /// Neither a lifetime nor a validator: it could never be used again.
    case noLifetime
    /// The signature in Location has ended already.
    case signature
    case bodyTooLarge
    /// The head is larger than a stored one may be (`StoredHead`).
    case headTooLarge
    /// A rule's validation found it wanting.
    case validation
    /// The key was invalidated after the request had gone out (§4.4), or the rest of the body came with other terms (§3.4).
    case invalidated
    /// The store takes no further body now.
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

/// Whether a response is stored. Trivial.
package enum StorageDecision: Equatable, Sendable {
    /// With `usedUnsafe` an unsafe rule led past no-store or private, or shares a cookie (T23).
    case store(ReuseFacts, usedUnsafe: Bool)
    case doNotStore(StorageRefusal)
}

extension StorageRefusal {
    /// The request at hand keeps the response out, so that what was stored before for others still holds.
    package var isOfRequest: Bool {
        switch self {
        case .method, .requestContent, .unkeyedInput, .requestNoStore, .authorization: true
        default: false
        }
    }
}
