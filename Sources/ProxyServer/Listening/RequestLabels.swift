import HTTPMessage
import ProxyCore

/// The labels by which requests are counted: mode, method, status and outcome.
package struct RequestLabels: Equatable, Sendable {
    package let mode: ExchangeContext.Mode
    package let method: Method
    /// The status sent to the client; 0 if the client left before a status was sent.
    package let status: UInt16
    package let outcome: DecisionTrace.Outcome

    init(mode: ExchangeContext.Mode, method: Method, status: UInt16, outcome: DecisionTrace.Outcome) {
        self.mode = mode
        self.method = method
        self.status = status
        self.outcome = outcome
    }

    /// The labels as a number, which is never 0.
    var packed: UInt32 {
        1 << 31 | UInt32(mode.rawValue) << 24 | UInt32(method.rawValue) << 18 | UInt32(outcome.rawValue) << 12
            | UInt32(min(status, 0xFFF))
    }

    /// - Returns: `nil` for 0, which no labels have.
    init?(packed: UInt32) {
        guard packed != 0, let mode = ExchangeContext.Mode(rawValue: UInt8(packed >> 24 & 0x7F)),
            let method = Method(rawValue: UInt8(packed >> 18 & 0x3F)),
            let outcome = DecisionTrace.Outcome(rawValue: UInt8(packed >> 12 & 0x3F))
        else { return nil }
        self.init(mode: mode, method: method, status: UInt16(packed & 0xFFF), outcome: outcome)
    }
}
