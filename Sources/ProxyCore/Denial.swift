import ProxyPolicy

/// Why the rules deny a request that may get a recorded or stored response.
package final class Denial: Sendable {
    package let fault: Fault
    /// The rules that matched, including the rule that denies the request.
    let matched: MatchedRules

    init(_ fault: Fault, _ matched: MatchedRules) {
        self.fault = fault
        self.matched = matched
    }
}
