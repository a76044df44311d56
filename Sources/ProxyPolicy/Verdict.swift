import HTTPCaching

/// The rules' decision about a request. A trivial type (no reference counts): the rules themselves are in the `MatchedRules` that was
/// filled together with it.
package enum Verdict: Equatable, Sendable {
    case allow(Obligations)
    /// A rule denies the request. `MatchedRules.denyingRule` has the rule's name and reason.
    case deny
    /// No rule allows the request, and the settings deny such requests (`egress.default: deny`).
    case unlisted
    /// Some readings of the request's path are allowed and others are not (`PathReadings`).
    case ambiguousPath

    package var isAllowed: Bool { if case .allow = self { true } else { false } }
}

/// Which tunnels to the host of a CONNECT request the rules allow.
package enum TunnelPermission: UInt8, Sendable {
    /// No tunnel: the rules look at the requests inside the tunnel, so Larder has to intercept it.
    case inspectedOnly
    /// A tunnel whose ClientHello names the host.
    case named
    /// A tunnel for any protocol.
    case any
}

/// What Larder must do for an allowed request.
package struct Obligations: Equatable, Sendable {
    package var cache = CacheOverrides.none
    /// The mode that overrides the mode for all requests; `nil` keeps the latter.
    package var mode: RuleMode?
    /// The request's fields must be edited: `MatchedRules.editRequest`.
    package var editsRequest = false
    /// A request over http must be fetched over https.
    package var upgradesToTLS = false
    /// The response's fields must be edited: `MatchedRules.editResponse`.
    package var editsResponse = false
    /// The response must be validated: `MatchedRules.validation`.
    package var validates = false
    /// The validation also checks the body, so a range must be cut from the complete and checked body.
    package var checksBody = false

    /// The response's content must be transformed: `MatchedRules.transform`.
    package var transforms = false

    /// The cache key is not made from the target alone: see `MatchedRules.keyRewriting`.
    package var rewritesKey = false

    /// A matching rule names the way on which the request is sent: `MatchedRules.upstream`.
    package var routes = false

    /// A matching rule has a limit: `MatchedRules.limits`.
    package var limits = false

    /// A matching rule limits the length of content, which a tunnel hides.
    package var limitsContent = false

    /// An approver must allow the request first: `MatchedRules.askingRule`.
    package var asks = false

    /// The request must wait before it continues, for the counts of limits or for an approver.
    package var waits: Bool { limits || asks }

    /// The request would be denied for this reason, but report mode forwards it.
    package var reported: ReportedDenial?

    /// For a CONNECT request, the tunnels that the rules allow.
    package var tunnel = TunnelPermission.any

    package init() {}

    package static let none = Obligations()
}
