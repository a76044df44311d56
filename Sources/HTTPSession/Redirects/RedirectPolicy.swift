import HTTPMessage

/// What a session does with 301, 302, 303, 307 and 308 (RFC 9110 §15.4) that name another place.
public struct RedirectPolicy: Sendable {
    /// What becomes of a redirect.
    public enum Decision: Sendable {
        /// Asks there, as `Redirect.request` says.
        case follow
        /// Asks something else instead. Credentials are no longer taken out of it.
        case rewrite(HTTPRequest)
        /// The response is the answer.
        case deliver
        /// The transfer fails with `redirect_refused`.
        case refuse(String)
    }

    /// More of them in a row are `too_many_redirects`.
    public let limit: Int
    let decide: @Sendable (Redirect) async -> Decision

    /// - Parameters:
    ///   - limit: how many are followed for one request.
    ///   - decide: called for each redirect within the limit.
    public init(atMost limit: Int = 10, _ decide: @escaping @Sendable (Redirect) async -> Decision) {
        self.limit = limit
        self.decide = decide
    }

    /// Follows, but never from https to http.
    public static func follow(atMost limit: Int = 10) -> RedirectPolicy {
        RedirectPolicy(atMost: limit) { $0.isDowngrade ? .refuse("from https to http") : .follow }
    }

    /// Follows within a site: the host itself, and hosts that share its registrable domain; never from https to http.
    public static func sameSite(atMost limit: Int = 10) -> RedirectPolicy {
        RedirectPolicy(atMost: limit) { redirect in
            if redirect.isDowngrade { return .refuse("from https to http") }
            return redirect.isSameSite ? .follow : .refuse("to another site")
        }
    }

    /// Redirects are answers like others.
    public static let deliver = RedirectPolicy { _ in .deliver }
    /// None is allowed.
    public static let deny = RedirectPolicy { _ in .refuse("the policy denies redirects") }
}

/// A redirect that came, and what following it would ask.
public struct Redirect: Sendable {
    /// 301, 302, 303, 307 or 308.
    public let status: Int
    /// The fields of the response that redirects.
    public let fields: HTTPFields
    /// What was asked for.
    public let from: TargetURI
    /// What the response names.
    public let to: TargetURI
    /// How many came before it in this transfer.
    public let hop: Int
    /// What following asks: GET without content after 303, and after 301 or 302 to POST; nothing that another origin may not see.
    public let request: HTTPRequest

    /// From https to http.
    public var isDowngrade: Bool { from.isSecure && !to.isSecure }
    /// To the same host, or to one with the same registrable domain.
    public var isSameSite: Bool { from.host == to.host || Self.shareSite(from.host, to.host) }

    private static func shareSite(_ one: String, _ other: String) -> Bool {
        guard let site = PublicSuffixes.registrableDomain(of: one) else { return false }
        return site == PublicSuffixes.registrableDomain(of: other)
    }
}
