import HTTPMessage
import ProxyPolicy

/// Whether Larder connects to an origin before the client's first request to it is known.
package enum PreconnectDecision: Equatable, Sendable {
    /// Larder connects: every request to this origin may be sent.
    case connect
    case wait(Reason)

    package enum Reason: Equatable, Sendable {
        /// Larder does not connect, because the mode forwards nothing, or looks up recordings first.
        case mode(ExchangeContext.Mode)
        /// Larder does not connect, because a rule may decide that a request is not sent, or is sent on another way.
        case rule(String)
        /// Larder does not connect, because no rule allows every request to the origin, and the settings deny requests that no rule allows.
        case egressDefault
    }
}

extension ExchangeContext {
    /// A name look-up, a connection and a handshake already reveal the host. So Larder waits if a rule or the mode could answer a request
    /// without forwarding it.
    package func preconnectDecision(for origin: TunnelAuthority) -> PreconnectDecision {
        if mode.isClosed || mode.asksRecordings { return .wait(.mode(mode)) }
        let rules = rules.rules(for: origin)
        if let rule = rules.withholding { return .wait(.rule(rule.name)) }
        if let rule = rules.routing { return .wait(.rule(rule.name)) }
        if rules.deniesUnlisted { return .wait(.egressDefault) }
        return .connect
    }
}
