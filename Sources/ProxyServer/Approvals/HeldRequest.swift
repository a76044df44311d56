import HTTPMessage
import ProxyPolicy

/// A request that waits for an approver, as the approver sees it.
package struct HeldRequest: Sendable {
    /// The request's id, as in the access log.
    package let id: UInt64
    package let rule: String
    package let client: String
    /// The name that the client has proved; empty if it has proved none.
    package let user: String
    package let method: String
    /// The URL without its query, cut at `urlLimit`.
    package let url: String
    package let askedAt: Timestamp
    /// When Larder decides without an approver.
    package let deadline: Timestamp
    package let question: RuleQuestion
    /// What an answer may apply to besides this request.
    package let scopes: ApprovalScopes

    /// The maximum lengths of texts from peers, in bytes.
    static let urlLimit = 1024, nameLimit = 256

    /// The memory that the texts need, in bytes.
    var byteCount: Int {
        rule.utf8.count + user.utf8.count + method.utf8.count + url.utf8.count
            + ApprovalScopes.Scope.allCases.reduce(0) { $0 + (scopes[$1]?.text.utf8.count ?? 0) }
    }
}

/// The answer of an approver to one held request.
package struct ApproverAnswer: Sendable {
    /// How long the answer applies to other requests too.
    package enum Lifetime: String, CaseIterable, Sendable {
        case once
        /// Until Larder stops.
        case run
        /// As a rule in the file that `approvals.file` names.
        case always
    }

    package let allows: Bool
    package let lifetime: Lifetime
    package let scope: ApprovalScopes.Scope
    /// The approver, for the audit log.
    package let approver: String

    package init(allows: Bool, lifetime: Lifetime, scope: ApprovalScopes.Scope, approver: String) {
        self.allows = allows
        self.lifetime = lifetime
        self.scope = scope
        self.approver = approver
    }

    /// What came of the answer.
    package enum Outcome: Sendable {
        /// The answer applies. The request is no longer held.
        case done(HeldRequest)
        /// No request with this id waits: it was answered already, or it ended.
        case notHeld
        /// No rule can describe the request, so the answer can only apply once.
        case onlyOnce
        /// Larder remembers no further answers.
        case tooMany
    }
}
