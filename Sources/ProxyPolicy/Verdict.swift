import HTTPCaching

/// What the rules say to a request. Trivial: what it speaks of stands in the `MatchedRules` that were filled with it.
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

/// What an allowed request entails.
package struct Obligations: Equatable, Sendable {
    package var cache = CacheOverrides.none
    /// In place of the active one for all; `nil` where that holds.
    package var mode: RuleMode?
    /// The fields of the request are to be edited: `MatchedRules.editRequest`.
    package var editsRequest = false
    /// A request in plain text is to be fetched over https.
    package var upgradesToTLS = false
    /// The fields of the response are to be edited: `MatchedRules.editResponse`.
    package var editsResponse = false
    /// The response is to be validated: `MatchedRules.validation`.
    package var validates = false
    /// Validation looks into the body too, so a range must be cut from the checked whole.
    package var checksBody = false

    /// Something is to be made of the response's content: `MatchedRules.transform`.
    package var transforms = false

    /// The key is not the target alone: `MatchedRules.keyRewriting`.
    package var rewritesKey = false

    /// For CONNECT.
    package var tunnel = TunnelPermission.any

    package init() {}

    package static let none = Obligations()
}
