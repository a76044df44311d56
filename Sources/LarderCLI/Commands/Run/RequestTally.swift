import Foundation
import SecretScanning

/// What the requests of one run were and became, as the access log tells it line by line.
struct RequestTally {
    struct Host: Equatable {
        var requests = 0
        var hits = 0
        /// Tunnels whose content Larder cannot see.
        var tunnels = 0
    }

    struct NamedRequest: Equatable {
        /// Method and URL, with `{secret}` in the place of each secret of the query.
        let request: String
        /// A rule's name, or an error's code.
        let reason: String
        /// What was recorded that comes near to it, and in what it differs.
        var nearest: String?
    }

    /// Whether a client reached Larder at all: a tunnel that is intercepted counts, though no request came in it.
    private(set) var sawClient = false
    private(set) var requests = 0
    private(set) var hits = 0
    private(set) var sentBytes: UInt64 = 0
    private(set) var savedBytes: UInt64 = 0
    private(set) var hosts: [String: Host] = [:]
    /// All hosts beyond the limit together.
    private(set) var otherHosts = Host()
    private(set) var deniedCount = 0
    private(set) var missedCount = 0
    private(set) var replayedCount = 0
    /// Requests that were answered with an error of ours for what went wrong at the origin.
    private(set) var failedCount = 0
    /// The first of them.
    private(set) var failures: [NamedRequest] = []
    /// Tunnels whose requests have no lines in the log.
    private(set) var tunnelCount = 0
    /// Hosts whose tunnels were intercepted, and of these the ones whose client rejected Larder's certificate.
    private var interceptedHosts: Set<String> = []
    private var rejectedHosts: Set<String> = []
    /// The first one whose tunnel was refused, since the client sent neither TLS nor HTTP/1.1 in it.
    private var clearTextHost: String?
    /// The first requests that were denied, or missed.
    private(set) var refusals: [NamedRequest] = []
    /// Tunnels to hosts that are intercepted, which hid their requests from rules and store.
    private(set) var uninspectedCount = 0
    /// The first of them, each host and reason once.
    private(set) var uninspected: [NamedRequest] = []

    /// Replaces the secrets of URLs.
    private let mask: SecretMask

    init(_ mask: SecretMask = SecretMask()) { self.mask = mask }

    static let hostLimit = 10_000
    static let refusalLimit = 20
    /// No line is longer that Larder writes.
    static let lineLimit = 1 << 20

    private static let hitWords: Set = ["hit", "stale_hit", "revalidated", "collapsed", "replayed"]
    /// What could not be answered without a network.
    static let missWord = "offline_miss"
    private static let replayedWord = "replayed"

    /// - Parameter line: one object of NDJSON. What is none tells nothing.
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
        // The requests in such a tunnel have lines of their own.
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
        } else if outcome == "failed" {
            failedCount += 1
            note(record, error ?? outcome, in: \.failures)
        } else if outcome == "denied" {
            deniedCount += 1
            let reason = record["rule"] as? String ?? record["detail"] as? String ?? error ?? outcome
            if reason == Self.clearTextWord, clearTextHost == nil { clearTextHost = Self.host(of: url) }
            note(record, reason, in: \.refusals)
        }
    }

    /// CONNECT to a host that is intercepted, and CONNECT in which the client sent plain HTTP/1.1.
    private static let interceptWord = "intercept"
    private static let plainWord = "http"
    /// What the client sent in its tunnel was neither TLS nor HTTP/1.1.
    private static let clearTextWord = "not_tls"

    /// The client ended its handshake with an alert about Larder's certificate.
    private static let rejectionWord = "client_refused_certificate"

    /// A sentence about misses of a run that was offline: a run before may have had answers that are not stored.
    var offlineRemark: String? {
        guard missedCount > 0 else { return nil }
        return
            "\(missedCount) missed offline; a run does not store responses to POST, with no-store, or with neither a lifetime nor a validator, unless a rule "
            + "stores them: see docs/offline.md"
    }

    /// A sentence about a tunnel that was refused for what the client sent in it, such as gRPC in clear.
    var clearTextRemark: String? {
        clearTextHost.map {
            "\($0): the client sent neither TLS nor HTTP/1.1 in its tunnel; connect: tunnel for the host in tls.hosts allows it, "
                + "without any rules"
        }
    }

    /// A sentence about hosts whose tunnels were intercepted and in which no request came: the client did not trust the certificate. Some
    /// clients send an alert, and others close the connection.
    var untrustedRemark: String? {
        let silent = interceptedHosts.filter { hosts[$0] == nil }.union(rejectedHosts).sorted()
        guard let first = silent.first else { return nil }
        let others = silent.count > 1 ? " and \(silent.count - 1) more" : ""
        return
            "\(first)\(others): the client sent no request in its tunnel; if it does not trust Larder's certificate, see docs/clients.md for the "
            + "program's option"
    }

    /// - Parameter authority: of CONNECT. Hosts of https URLs are noted without the usual port.
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

    /// Of an absolute URL, or of the authority of CONNECT; with the port where one is written.
    static func host(of url: String) -> String {
        let behindScheme = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return String(behindScheme.prefix { !"/?#".contains($0) })
    }
}
