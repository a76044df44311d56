package import HTTPCaching
internal import HTTPMessage

/// Why a stored response is not written to the shared store. Metrics, the log and docs/farm-keys.md use the words of this list.
package enum SharingRefusal: String, CaseIterable, Sendable {
    /// `write: off`, or the node has no signing key.
    case off
    /// A rule forbids it.
    case rule
    /// The response was replayed from a recording.
    case recorded
    /// The body is not complete, or failed or has not had a check that a rule requires.
    case unchecked
    /// Only a rule that overrides the origin's directives allowed storing the response (RFC 9111 §5.2.2.5, §5.2.2.7).
    case override
    /// The response says `no-store` or `private`, for all recipients or for those that know its targeted field.
    case `private`
    /// The request had credentials, and no directive allows sharing the response (RFC 9111 §3.5).
    case credentials
    case setCookie = "set_cookie"
    /// The response varies on fields that contain credentials.
    case varies
    /// The response is already stale, and the origin cannot validate it.
    case useless
    /// The response is beyond a limit of the shared store, or of `max_body`.
    case tooLarge = "too_large"
    /// `write: second_request`, and this is the first request.
    case firstRequest = "first_request"
}

package enum SharingDecision: Equatable, Sendable {
    case share
    case withhold(SharingRefusal)
}

/// Which responses a node writes.
package struct SharingSettings: Sendable {
    package enum Write: String, CaseIterable, Sendable {
        case all
        /// Only from the second request on, so that a response that is never needed again uses no memory of the engine.
        case secondRequest = "second_request"
        case off
    }

    package var write: Write
    /// In bytes.
    package var maximumBody: UInt64
    /// Whether responses with Set-Cookie are shared, if the origin gave them a lifetime.
    package var cookies: SetCookieStorage

    package init(write: Write = .all, maximumBody: UInt64 = 1 << 20, cookies: SetCookieStorage = .never) {
        self.write = write
        self.maximumBody = maximumBody
        self.cookies = cookies
    }
}

/// What is known about the request that fetched a response, and about the response beyond its head.
package struct SharingFacts: Sendable {
    /// The request that reached the origin contained credentials: Authorization, Cookie, or a field that a rule has added.
    package var hadCredentials = false
    /// The origin got a client certificate.
    package var hadClientCertificate = false
    /// A rule forbids sharing.
    package var isForbiddenByRule = false
    package var isRecorded = false
    /// The body has its declared length, and all checks have succeeded.
    package var isWholeAndChecked = false
    /// The number of requests for the response, with the one that fetched it.
    package var requestCount = 1

    package init() {}
}

/// Decides whether a stored response may be written to the shared store. It may be if another shared cache may have it (RFC 9111 §3), and
/// this function allows less in cases of doubt: a response that is withheld costs one fetch, and a private response that is shared cannot
/// be called back.
package enum Sharing {
    package static func decide(_ response: StoredResponse, _ facts: SharingFacts, _ settings: SharingSettings) -> SharingDecision
    {
        refusal(response, facts, settings).map(SharingDecision.withhold) ?? .share
    }

    private static func refusal(
        _ response: StoredResponse, _ facts: SharingFacts, _ settings: SharingSettings
    ) -> SharingRefusal? {
        if settings.write == .off { return .off }
        if facts.isForbiddenByRule { return .rule }
        if facts.isRecorded { return .recorded }
        if !facts.isWholeAndChecked { return .unchecked }
        let flags = response.facts.flags
        if !flags.isDisjoint(with: [.private, .noStore]) { return .override }
        // The stored facts follow a targeted field, which replaces Cache-Control (RFC 9213). Another node may not know this field.
        if ResponseDirectives(response.head.fields, targets: .none).forbidsSharing { return .private }
        let hadCredentials = flags.contains(.authorized) || facts.hadCredentials || facts.hadClientCertificate
        if hadCredentials, flags.isDisjoint(with: [.public, .mustRevalidate, .sMaxAge]) { return .credentials }
        let isExplicit = response.facts.lifetimeSource.isExplicit
        if response.head.fields.contains(.setCookie) || flags.contains(.setCookie) {
            if settings.cookies == .never || !isExplicit { return .setCookie }
        }
        if hadCredentials, response.variesOnCredentials { return .varies }
        if response.facts.status == .partialContent { return .unchecked }
        if !isUseful(response.facts) { return .useless }
        if response.body.length > min(settings.maximumBody, UInt64(EntryLimits.body)) { return .tooLarge }
        if settings.write == .secondRequest, facts.requestCount < 2 { return .firstRequest }
        return nil
    }

    private static func isUseful(_ facts: ReuseFacts) -> Bool {
        facts.canBeValidated || Int64(facts.freshnessLifetime.seconds) * 1000 > facts.initialAgeInMilliseconds
    }
}

extension StoredResponse {
    /// Whether the fields that select this variant, by Vary or by a rule's key, contain credentials. Their values would be stored.
    fileprivate var variesOnCredentials: Bool {
        let nominated = String(decoding: nominatedFields, as: UTF8.self).lowercased()
        if nominated.contains("authorization") || nominated.contains("cookie") { return true }
        let vary = head.fields.combinedValue(of: .vary)?.lowercased() ?? ""
        return vary.contains("authorization") || vary.contains("cookie")
    }
}
