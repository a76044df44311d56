import HTTPMessage

/// How a session handles responses that have a Location field and the status 301, 302, 303, 307 or 308 (RFC 9110 §15.4).
public struct RedirectPolicy: Sendable {
    /// How a redirect is handled.
    public enum Decision: Sendable {
        /// Sends `Redirect.request`.
        case follow
        /// Sends this request instead. Credentials are not removed from it.
        case rewrite(SessionRequest)
        /// The caller gets the redirect response.
        case deliver
        /// The transfer fails with `redirect_refused`.
        case refuse(String)
    }

    /// How many redirects in a row are followed; one more fails with `too_many_redirects`.
    public let limit: Int
    let decide: @Sendable (Redirect) async -> Decision

    /// - Parameters:
    ///   - limit: how many redirects are followed for one request.
    ///   - decide: called for each redirect within the limit.
    public init(atMost limit: Int = 10, _ decide: @escaping @Sendable (Redirect) async -> Decision) {
        self.limit = limit
        self.decide = decide
    }

    /// Follows redirects, except from https to http.
    public static func follow(atMost limit: Int = 10) -> RedirectPolicy {
        RedirectPolicy(atMost: limit) { $0.isDowngrade ? .refuse("the redirect leads from https to http") : .follow }
    }

    /// Follows redirects within a site (the same host, or a host with the same registrable domain), except from https to http.
    public static func sameSite(atMost limit: Int = 10) -> RedirectPolicy {
        RedirectPolicy(atMost: limit) { redirect in
            if redirect.isDowngrade { return .refuse("the redirect leads from https to http") }
            return redirect.isSameSite ? .follow : .refuse("the redirect leads to another site")
        }
    }

    /// The caller gets each redirect response.
    public static let deliver = RedirectPolicy { _ in .deliver }
    /// The transfer fails if its response is a redirect.
    public static let deny = RedirectPolicy { _ in .refuse("the policy denies redirects") }
}

/// A redirect that was received, and the request that would follow it.
public struct Redirect: Sendable {
    /// The status of the redirect response: 301, 302, 303, 307 or 308.
    public let status: Int
    /// The fields of the redirect response.
    public let fields: SessionFields
    /// The URI that was requested.
    public let from: TargetURI
    /// The URI in Location.
    public let to: TargetURI
    /// How many redirects came before this one.
    public let hop: Int
    /// The request that follows: GET without content after 303, and also after 301 or 302 if the method was POST. Fields that another
    /// origin must not see are removed.
    public let request: SessionRequest

    /// Whether the redirect leads from https to http.
    public var isDowngrade: Bool { from.isSecure && !to.isSecure }
    /// Whether the redirect leads to the same host, or to a host with the same registrable domain.
    public var isSameSite: Bool { from.host == to.host || Self.shareSite(from.host, to.host) }

    private static func shareSite(_ one: String, _ other: String) -> Bool {
        guard let site = PublicSuffixes.registrableDomain(of: one) else { return false }
        return site == PublicSuffixes.registrableDomain(of: other)
    }
}
