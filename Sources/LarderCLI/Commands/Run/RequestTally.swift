import Foundation
import ProxyCore
import ProxyServer
import SecretScanning

/// Totals of one run's requests and their outcomes, read line by line from the access log.
struct RequestTally {
    struct Host: Equatable {
        var requests = 0
        var hits = 0
        /// Tunnels whose content Larder cannot see.
        var tunnels = 0
    }

    struct NamedRequest: Equatable {
        /// Method and URL, with `{secret}` in place of each secret in the query.
        let request: String
        /// The name of the rule, or the error code.
        let reason: String
        /// The recording nearest to the request, and how the recording differs from it.
        var nearest: String?

        /// The reason, and the request if Larder could read its URL.
        var rejection: String { "(\(reason))" + (request.contains("://") ? ": \(request)" : "") }
    }

    /// Whether any client reached Larder: an intercepted tunnel counts, even if no request was sent in it.
    private(set) var sawClient = false
    private(set) var requests = 0
    private(set) var hits = 0
    private(set) var sentBytes: UInt64 = 0
    private(set) var savedBytes: UInt64 = 0
    private(set) var hosts: [String: Host] = [:]
    /// The total of the hosts that exceed the limit on the number of hosts.
    private(set) var otherHosts = Host()
    private(set) var deniedCount = 0
    private(set) var missedCount = 0
    /// Requests that a rule would have denied, but that were forwarded in report mode.
    private(set) var reportedCount = 0
    /// The first requests that report mode forwarded.
    private(set) var reported: [NamedRequest] = []
    private(set) var replayedCount = 0
    /// Requests that Larder answered with an error, because the origin failed or because Larder did not accept the request.
    private(set) var failedCount = 0
    /// The number of requests that failed at the origin.
    var originFailureCount: Int { failedCount - rejectedCount }
    /// The first requests that failed at the origin.
    private(set) var failures: [NamedRequest] = []
    /// Failed requests that Larder did not accept, such as requests with too many fields. They are not recorded.
    private(set) var rejectedCount = 0
    /// The first requests that Larder did not accept.
    private(set) var rejections: [NamedRequest] = []
    /// Tunnels whose requests have no lines in the log.
    private(set) var tunnelCount = 0
    /// Hosts whose tunnels were intercepted. `rejectedHosts` are the hosts for which the client rejected Larder's certificate.
    private var interceptedHosts: Set<String> = []
    private var rejectedHosts: Set<String> = []
    /// The host of the first tunnel that was refused because the client sent neither TLS nor HTTP/1.1 in it.
    private var clearTextHost: String?
    /// The first requests that were denied or missed.
    private(set) var refusals: [NamedRequest] = []
    /// Tunnels to intercepted hosts whose requests were not visible to rules and store.
    private(set) var uninspectedCount = 0
    /// The first uninspected tunnels; each combination of host and reason once.
    private(set) var uninspected: [NamedRequest] = []

    /// Masks the secrets of URLs.
    private let mask: SecretMask

    init(_ mask: SecretMask = SecretMask()) { self.mask = mask }

    static let hostLimit = 10_000
    static let refusalLimit = 20
    /// The longest line that is read, in bytes. Larder writes no longer lines.
    static let lineLimit = 1 << 20

    /// The outcomes of requests that were answered from the store, a recording, or another request's fetch.
    static let hitWords = Set(DecisionTrace.Outcome.allCases.filter(\.isAnsweredFromStore).map { "\($0.word)" })
    /// The error code of a request that could not be answered without a network.
    static let missWord = "offline_miss"
    private static let replayedWord = "replayed"
    /// The error code of a request that a rule denies.
    static let ruleWord = "denied_by_rule"

    /// - Parameter line: one NDJSON object. Other lines are ignored.
    mutating func add(_ line: [UInt8]) {
        guard let record = try? JSONSerialization.jsonObject(with: Data(line)) as? [String: Any],
            let outcome = record["cache"] as? String, outcome != "background"
        else { return }
        sawClient = true
        let url = record["url"] as? String ?? ""
        let error = record["error"] as? String
        let way = record["connect"] as? String
        if way == Self.interceptWord { noteInterception(of: url, isRejected: error == Self.rejectionWord) }
        let isTunnel = outcome == "tunnel"
        if let word = record["would_deny"] as? String {
            reportedCount += 1
            note(record, word == Self.ruleWord ? record["rule"] as? String ?? word : word, in: \.reported)
        }
        // Requests in a tunnel that is intercepted, or that carries plain HTTP/1.1, have their own lines.
        if isTunnel, way == Self.interceptWord || way == Self.plainWord { return }
        let bytes = (record["bytes"] as? NSNumber)?.uint64Value ?? 0
        sentBytes &+= bytes
        if let reason = record["uninspected"] as? String { noteUninspected(url, reason) }
        if isTunnel {
            tunnelCount += 1
            add(host: Self.host(of: url)) { $0.tunnels += 1 }
            return
        }
        let isHit = Self.hitWords.contains(outcome)
        requests += 1
        if isHit {
            hits += 1
            savedBytes &+= bytes
        }
        add(host: Self.host(of: url)) {
            $0.requests += 1
            if isHit { $0.hits += 1 }
        }
        if outcome == Self.replayedWord { replayedCount += 1 }
        if error == Self.missWord {
            missedCount += 1
            note(record, Self.missWord, nearest: record["nearest"] as? String, in: \.refusals)
        } else if outcome == "denied" || error == Self.misdirectionWord {
            deniedCount += 1
            let detail = outcome == "denied" ? record["rule"] as? String ?? record["detail"] as? String : nil
            let reason = detail ?? error ?? outcome
            if reason == Self.clearTextWord, clearTextHost == nil { clearTextHost = Self.host(of: url) }
            note(record, reason, in: \.refusals)
        } else if outcome == "failed" {
            failedCount += 1
            if let status = (record["status"] as? NSNumber)?.intValue, (400...499).contains(status) {
                rejectedCount += 1
                note(record, error ?? outcome, in: \.rejections)
            } else {
                note(record, error ?? outcome, in: \.failures)
            }
        }
    }

    /// The request names a different host than its connection: Larder refuses the request with 421.
    private static let misdirectionWord = "misdirected_request"

    /// The result of a CONNECT to an intercepted host, and of a CONNECT in which the client sent plain HTTP/1.1.
    private static let interceptWord = "intercept"
    private static let plainWord = "http"
    /// The result of a CONNECT in whose tunnel the client sent neither TLS nor HTTP/1.1.
    private static let clearTextWord = "not_tls"

    /// The client ended its TLS handshake with an alert about Larder's certificate.
    private static let rejectionWord = "client_refused_certificate"

    /// A line for each failed request, and for each that Larder did not accept, up to the limit of each.
    var failureLines: [String] {
        let others = originFailureCount - failures.count
        let otherRejections = rejectedCount - rejections.count
        return failures.map { "  failed (\($0.reason)): \($0.request)" } + (others > 0 ? ["  and \(others) more failed"] : [])
            + rejections.map { "  not accepted \($0.rejection)" }
            + (otherRejections > 0 ? ["  and \(otherRejections) more not accepted"] : [])
    }

    /// The numbers of failed requests, and of those that Larder did not accept, for the first line of a summary.
    var failureCounts: String {
        (originFailureCount > 0 ? ", \(originFailureCount) failed" : "")
            + (rejectedCount > 0 ? ", \(rejectedCount) not accepted" : "")
    }

    /// The message about requests that could not be answered offline. An earlier run may have received responses that Larder does not
    /// store.
    var offlineRemark: String? {
        guard missedCount > 0 else { return nil }
        return
            "\(missedCount) missed offline. Unless a rule stores them, Larder does not store responses to POST, responses with no-store, "
            + "or responses without a lifetime or validator: see docs/offline.md"
    }

    /// A message about a tunnel that was refused because of what the client sent in it, for example plaintext gRPC.
    var clearTextRemark: String? {
        clearTextHost.map {
            "\($0): the client used neither TLS nor HTTP/1.1 in its tunnel. To let Larder open a tunnel, in which no rules apply, "
                + "set connect: tunnel for the host in tls.hosts."
        }
    }

    /// Whether a client rejected Larder's certificate, so that its requests for the host did not come through Larder.
    var sawRejection: Bool { !rejectedHosts.isEmpty }

    /// A message about hosts whose tunnels were intercepted but carried no request: the client did not trust the certificate. Some clients
    /// send an alert, others close the connection.
    var untrustedRemark: String? {
        let silent = interceptedHosts.filter { hosts[$0] == nil }.union(rejectedHosts).sorted()
        guard let first = silent.first else { return nil }
        let others = silent.count > 1 ? " and \(silent.count - 1) more" : ""
        return
            "\(first)\(others): the client sent no request in its tunnel; if it does not trust Larder's certificate, see docs/clients.md for the "
            + "program's option"
    }

    /// - Parameter authority: the target of CONNECT. Hosts of https URLs are noted without the default port.
    private mutating func noteInterception(of authority: String, isRejected: Bool) {
        guard interceptedHosts.count < Self.hostLimit else { return }
        let host = authority.hasSuffix(":443") ? String(authority.dropLast(4)) : authority
        interceptedHosts.insert(host)
        if isRejected { rejectedHosts.insert(host) }
    }

    private mutating func add(host name: String, _ change: (inout Host) -> Void) {
        guard hosts[name] != nil || hosts.count < Self.hostLimit else {
            change(&otherHosts)
            return
        }
        change(&hosts[name, default: Host()])
    }

    private mutating func noteUninspected(_ url: String, _ reason: String) {
        uninspectedCount += 1
        let tunnel = NamedRequest(request: url, reason: reason)
        if uninspected.count < Self.refusalLimit, !uninspected.contains(tunnel) { uninspected.append(tunnel) }
    }

    private mutating func note(
        _ record: [String: Any], _ reason: String, nearest: String? = nil, in list: WritableKeyPath<Self, [NamedRequest]>
    ) {
        guard self[keyPath: list].count < Self.refusalLimit else { return }
        let url = mask.masked(url: record["url"] as? String ?? "")
        let request = (record["method"] as? String).map { "\($0) \(url)" } ?? url
        self[keyPath: list].append(NamedRequest(request: request, reason: reason, nearest: nearest))
    }

    /// The host of an absolute URL or of a CONNECT target, with the port if there is one.
    static func host(of url: String) -> String {
        let behindScheme = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return String(behindScheme.prefix { !"/?#".contains($0) })
    }
}
