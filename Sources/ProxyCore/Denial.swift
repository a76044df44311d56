import ProxyPolicy

/// Why the rules deny a request that may get a recorded or stored response.
package final class Denial: Sendable {
    package let fault: Fault
    /// The rules that matched, with the one that denies.
    let matched: MatchedRules

    init(_ fault: Fault, _ matched: MatchedRules) {
        self.fault = fault
        self.matched = matched
    }
}
