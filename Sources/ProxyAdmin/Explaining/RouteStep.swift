import HTTPMessage
import ProxyCore
import TextCoding

/// The step about the way on which a request would be sent.
enum RouteStep {
    /// - Returns: `nil` if no request is sent, or if it is sent directly and no rule says so.
    static func make(_ dryRun: borrowing DryRun, at now: Timestamp) -> Explanation.Step? {
        switch dryRun.conclusion {
        case .asksOrigin, .opensTunnel: break
        default: return nil
        }
        guard let route = dryRun.exchange.routeSummary(at: now), route.name != "direct" || dryRun.exchange.obligations.routes
        else {
            return nil
        }
        var values: [(name: String, value: JSONText)] = [("way", .string(route.name))]
        guard let proxy = route.proxy else {
            return Explanation.Step("way", "\(route.name): directly to the origin", values: values)
        }
        let kind = route.isParent ? "the parent" : "the proxy"
        var says = "\(route.name): through \(kind) \(proxy)"
        says += route.isTunnelled ? ", in a tunnel" : ", which gets the request"
        values.append((route.isParent ? "parent" : "proxy", .string(proxy)))
        if let isParent = route.isVerifiedByParent {
            says += isParent ? "; the parent verifies the origin" : "; Larder verifies the origin"
            values.append(("verifier", .string(isParent ? "parent" : "larder")))
        }
        return Explanation.Step("way", says, values: values)
    }
}
