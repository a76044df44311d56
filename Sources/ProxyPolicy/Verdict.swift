import HTTPCaching

/// The rules' decision about a request. A trivial type: the rules are in the `MatchedRules` that were filled with it.
package enum Verdict: Equatable, Sendable {
    case allow(Obligations)
    /// `MatchedRules.denyingRule` has the name and the reason.
    case deny
    /// No rule allows the request, and the settings deny such requests (`egress.default: deny`).
    case unlisted
    /// Some readings of the path are allowed and others are not (`PathReadings`).
    case ambiguousPath

    package var isAllowed: Bool { if case .allow = self { true } else { false } }
}

/// Which tunnels the rules allow to the host of a CONNECT.
package enum TunnelPermission: UInt8, Sendable {
    /// None: the rules decide by the requests inside, so Larder has to see them.
    case inspectedOnly
    /// A tunnel whose ClientHello names the host.
    case named
    /// A tunnel for any protocol.
    case any
}

/// What Larder must do for an allowed request.
package struct Obligations: Equatable, Sendable {
    package var cache = CacheOverrides.none
    /// Overrides the mode that is active for all requests; `nil` keeps it.
    package var mode: RuleMode?
    /// The request's fields must be edited: `MatchedRules.editRequest`.
    package var editsRequest = false
    /// A request over http must be fetched over https.
    package var upgradesToTLS = false
    /// The response's fields must be edited: `MatchedRules.editResponse`.
    package var editsResponse = false
    /// The response must be validated: `MatchedRules.validation`.
    package var validates = false
    /// Validation also checks the body, so a range must be cut from the complete, checked body.
    package var checksBody = false

    /// The response's content must be transformed: `MatchedRules.transform`.
    package var transforms = false

    /// The key is not the target alone: see `MatchedRules.keyRewriting`.
    package var rewritesKey = false

    /// A matching rule has a limit: `MatchedRules.limits`.
    package var limits = false

    /// A matching rule limits contents, whose length a tunnel hides.
    package var limitsContent = false

    /// Report mode forwards the request for this reason; without it the request would be denied.
    package var reported: ReportedDenial?

    /// Which tunnels the rules allow, for a CONNECT.
    package var tunnel = TunnelPermission.any

    package init() {}

    package static let none = Obligations()
}
