import HTTPMessage
import ProxyPolicy

/// Whether Larder connects to an origin before the client's first request to it is known.
package enum PreconnectDecision: Equatable, Sendable {
    /// Every request to this origin may be sent.
    case connect
    case wait(Reason)

    package enum Reason: Equatable, Sendable {
        /// The mode forwards nothing, or looks up recordings first.
        case mode(ExchangeContext.Mode)
        /// A rule can keep a request from being sent.
        case rule(String)
        /// No rule allows every request to the origin, and the settings deny all others.
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
        if rules.deniesUnlisted { return .wait(.egressDefault) }
        return .connect
    }
}
