import EventLoop
import HTTPMessage
import ProxyCore
import ProxyPolicy

/// Distinct requests since the settings were read, each with a count. These are the requests that only report mode allows, and the
/// requests on which the verdict of the shadow policy differs. One report for all loops; only such requests access it.
package struct PolicyReport: Sendable {
    /// A request without its query.
    package struct Target: Hashable, Sendable {
        package let method: String
        package let url: String
    }

    /// A request that report mode has forwarded.
    package struct Denial: Hashable, Sendable {
        package let target: Target
        package let word: DenialWord
        /// The rule that would deny the request; empty if the request would be denied for another reason.
        package let rule: String
        /// The rule that would allow the request, as JSON; empty if no rule is suggested.
        package let suggestion: String
    }

    /// A request on which the shadow policy's verdict differs.
    package struct Difference: Hashable, Sendable {
        package let target: Target
        package let active: DenialWord
        package let shadow: DenialWord
        /// The shadow policy's rule that denies the request; empty if no rule denies it.
        package let rule: String
    }

    package fileprivate(set) var denials = CountedList<Denial>()
    /// The same requests as in `denials`, in groups.
    package fileprivate(set) var groups = DenialGroups()
    package fileprivate(set) var differences = CountedList<Difference>()
}

/// Distinct values in the order of their first occurrence, each with a count.
package struct CountedList<Value: Hashable & Sendable>: Sendable {
    /// The maximum number of distinct values in the list; further values are only counted.
    package static var limit: Int { 500 }

    package private(set) var items: [(value: Value, count: UInt64)] = []
    /// The number of all occurrences, including those of values that are not in the list.
    package private(set) var total: UInt64 = 0
    /// The number of occurrences of values that are not in the list.
    package private(set) var omitted: UInt64 = 0
    private var places: [Value: Int] = [:]

    mutating func note(_ value: Value) {
        total += 1
        if let place = places[value] {
            items[place].count += 1
        } else if items.count < Self.limit {
            places[value] = items.count
            items.append((value, 1))
        } else {
            omitted += 1
        }
    }
}

final class PolicyReports: Sendable {
    private struct State: Sendable {
        var report = PolicyReport()
        var differenceWarning = RareWarning()
    }

    /// The maximum lengths of a URL and of a method in a report, in bytes.
    static let urlLimit = 512, methodLimit = 64

    private let state = Guarded(State())

    var report: PolicyReport { state.withLock { $0.report } }

    func removeAll() { state.withLock { $0.report = PolicyReport() } }

    /// - Returns: a warning for the operator, if one is due.
    func note(_ exchange: inout Exchange, at now: MonotonicTime) -> String? {
        let target = Self.target(of: &exchange)
        if let reported = exchange.trace.reported {
            let denial = PolicyReport.Denial(
                target: target, word: reported.word, rule: reported.word == .deniedByRule ? exchange.decidingRuleName : "",
                suggestion: exchange.suggestionForReport)
            let key = DenialGroups.Key(
                word: denial.word, rule: denial.rule, method: target.method, host: Self.host(of: &exchange))
            let time = exchange.trace.receivedAt
            state.withLock {
                $0.report.denials.note(denial)
                $0.report.groups.note(key, example: target.url, at: time)
            }
        }
        guard let found = exchange.trace.shadow else { return nil }
        let difference = PolicyReport.Difference(
            target: target, active: found.active, shadow: found.shadow, rule: exchange.shadowRuleName)
        let isDue = state.withLock { state in
            state.report.differences.note(difference)
            return state.differenceWarning.isDue(at: now)
        }
        guard isDue else { return nil }
        return
            "\(target.method) \(target.url) is \(found.active.text) under the active rules, and \(found.shadow.text) under policy.shadow; "
            + "reported at most once a minute, see larder status"
    }

    private static func target(of exchange: inout Exchange) -> PolicyReport.Target {
        var target = PolicyReport.Target(method: "", url: "")
        exchange.withHeads { request, _ in
            let url = request.span(of: request.rawTargetBeforeQuery)
            target = PolicyReport.Target(
                method: text(request.span(of: request.methodName), limit: methodLimit), url: text(url, limit: urlLimit))
        }
        return target
    }

    private static func host(of exchange: inout Exchange) -> String {
        let (host, port) = (exchange.originHost, exchange.originPort)
        var (isIPv6, isDefault) = (false, false)
        exchange.withHeads { request, _ in
            isIPv6 = request.target.hostKind == .ipv6
            isDefault = port == (request.target.form == .authority ? 443 : request.target.scheme.defaultPort)
        }
        let name = text(host.span, limit: urlLimit)
        return (isIPv6 ? "[\(name)]" : name) + (isDefault ? "" : ":\(port)")
    }

    /// - Returns: the text, with `…` in place of the part that is cut.
    static func text(_ span: Span<UInt8>, limit: Int) -> String {
        let kept = span.extracting(0..<min(span.count, limit))
        return kept.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } + (span.count > limit ? "…" : "")
    }
}

extension ProxyServer {
    /// What report mode and the shadow policy have found since the settings were read.
    package var policyReport: PolicyReport { shared.reports.report }

    /// Whether requests that the rules deny are only reported.
    package var reportsDenials: Bool { shared.current.context.rules.reportsDenials }

    /// Whether the rules are compared with a shadow policy.
    package var hasShadow: Bool { shared.current.context.shadow != nil }
}
