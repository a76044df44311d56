import ProxyPolicy

/// The verdict of the rules on a request, without their other effects.
package enum DenialWord: UInt8, Sendable {
    case allowed, deniedByRule, egressDenied, ambiguousPath
    /// For a CONNECT only: allowed only if Larder intercepts the host, because the rules look at the requests inside the tunnel.
    case intercept

    var isDenied: Bool { fault != nil }

    /// The fault of a denied request.
    package var fault: Fault? {
        switch self {
        case .allowed, .intercept: nil
        case .deniedByRule: .deniedByRule
        case .egressDenied: .egressDenied
        case .ambiguousPath: .ambiguousPath
        }
    }

    /// The verdict as a word: `allowed`, `intercept`, or the code of the error.
    package var text: StaticString {
        if let fault { return GatewayError(fault).code.text }
        return self == .intercept ? "intercept" : "allowed"
    }
}

/// How the verdict of `policy.shadow` differs from that of the active rules. For both policies, a request that only report mode allows is
/// reported as denied.
package struct ShadowDifference: Equatable, Sendable {
    package let active: DenialWord
    package let shadow: DenialWord
    /// The shadow policy's rule that denies the request, by its place in the file; `nil` if no rule denies it.
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
    /// Like `word`, for a CONNECT of which it is not known yet whether Larder intercepts it.
    var wordOfConnect: DenialWord {
        if case .allow(let obligations) = self, obligations.reported == nil, obligations.tunnel == .inspectedOnly {
            return .intercept
        }
        return word
    }

    /// Why a CONNECT that is not intercepted is denied, or would be denied without report mode.
    var wordOfTunnel: DenialWord {
        let word = wordOfConnect
        return word == .intercept ? .egressDenied : word
    }

    /// Why the request is denied, or would be denied without report mode.
    var word: DenialWord {
        switch self {
        case .allow(let obligations): obligations.reported?.word ?? .allowed
        case .deny: .deniedByRule
        case .unlisted: .egressDenied
        case .ambiguousPath: .ambiguousPath
        }
    }
}
