import ProxyPolicy

/// The verdict of rules on a request, apart from what else they do.
package enum DenialWord: UInt8, Sendable {
    case allowed, deniedByRule, egressDenied, ambiguousPath

    /// The fault of a denied request.
    package var fault: Fault? {
        switch self {
        case .allowed: nil
        case .deniedByRule: .deniedByRule
        case .egressDenied: .egressDenied
        case .ambiguousPath: .ambiguousPath
        }
    }

    /// `allowed`, or the code of the error.
    package var text: StaticString { fault.map { GatewayError($0).code.text } ?? "allowed" }
}

/// How the verdict of `policy.shadow` differs from that of the active rules. In both, report mode counts as denial.
package struct ShadowDifference: Equatable, Sendable {
    package let active: DenialWord
    package let shadow: DenialWord
    /// The shadow's rule that denies the request, by its place in the file; `nil` if no rule does.
    package let shadowRule: UInt32?
}

extension ReportedDenial {
    package var word: DenialWord {
        switch self {
        case .rule: .deniedByRule
        case .unlisted: .egressDenied
        case .ambiguousPath: .ambiguousPath
        }
    }
}

extension Verdict {
    /// The same for a CONNECT that is not intercepted.
    var wordOfTunnel: DenialWord {
        if case .allow(let obligations) = self, obligations.reported == nil, obligations.tunnel == .inspectedOnly {
            return .egressDenied
        }
        return word
    }

    /// Why the request is denied, or would be without report mode.
    var word: DenialWord {
        switch self {
        case .allow(let obligations): obligations.reported?.word ?? .allowed
        case .deny: .deniedByRule
        case .unlisted: .egressDenied
        case .ambiguousPath: .ambiguousPath
        }
    }
}
