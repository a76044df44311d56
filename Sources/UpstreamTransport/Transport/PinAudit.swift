import EventLoop
import HTTPMessage
import ServerTrust

/// What was seen of servers whose pins are only reported on, so that a person can tell what enforcing them would do. Of all loops, and
/// asked nothing by a handshake with anybody else.
package final class PinAudit: Sendable {
    /// Of one host and port, by one policy: another policy begins anew.
    package struct Finding: Sendable {
        package let host: String
        package let port: UInt16
        package let since: Timestamp
        package fileprivate(set) var last: Timestamp
        /// Handshakes in which a pin was there, and those in which none was.
        package fileprivate(set) var matchedCount: UInt64 = 0
        package fileprivate(set) var mismatchedCount: UInt64 = 0
        /// As `TrustFailure` has them; empty until a pin was missed.
        package fileprivate(set) var expected: [SHA256Digest] = []
        /// What was there in place of a pin, in the order of its first time.
        package fileprivate(set) var seen: [Seen] = []
        /// Handshakes with still other chains than those.
        package fileprivate(set) var unlistedCount: UInt64 = 0
        fileprivate let fingerprint: SHA256Digest
    }

    package struct Seen: Sendable {
        /// Of the chain, the server's first.
        package let digests: [SHA256Digest]
        package fileprivate(set) var count: UInt64
        package fileprivate(set) var last: Timestamp
    }

    /// Hosts, and chains of one host; what comes beyond is counted.
    package static let hostLimit = 1000
    package static let chainLimit = 16

    private struct Place: Hashable {
        let host: String
        let port: UInt16
    }

    private struct State {
        var findings: [Place: Finding] = [:]
        var unlistedCount: UInt64 = 0
    }

    private let state = Guarded(State())

    package init() {}

    /// In the order of hosts, and in how many handshakes there was no room for their host.
    package var findings: (listed: [Finding], unlistedCount: UInt64) {
        state.withLock { state in
            let listed = state.findings.values.sorted { ($0.host, $0.port) < ($1.host, $1.port) }
            return (listed, state.unlistedCount)
        }
    }

    /// Forgets what is not reported on any more, so that there is room for what is.
    package func keep(_ isReported: (_ host: String, _ port: UInt16) -> Bool) {
        state.withLock { state in
            state.findings = state.findings.filter { isReported($0.key.host, $0.key.port) }
            if state.findings.isEmpty { state.unlistedCount = 0 }
        }
    }

    func note(_ verdict: TrustVerdict, host: String, port: UInt16, at now: Timestamp) {
        let place = Place(host: host, port: port)
        state.withLock { state in
            let fresh = Finding(host: host, port: port, since: now, last: now, fingerprint: verdict.fingerprint)
            var finding = state.findings[place] ?? fresh
            if finding.fingerprint != verdict.fingerprint { finding = fresh }
            guard state.findings[place] != nil || state.findings.count < Self.hostLimit else {
                return state.unlistedCount += 1
            }
            finding.note(verdict, at: now)
            state.findings[place] = finding
        }
    }
}

extension PinAudit.Finding {
    fileprivate mutating func note(_ verdict: TrustVerdict, at now: Timestamp) {
        last = now
        guard let failure = verdict.reported else { return matchedCount += 1 }
        mismatchedCount += 1
        expected = failure.expectedDigests
        if let index = seen.firstIndex(where: { $0.digests == failure.seenDigests }) {
            seen[index].count += 1
            seen[index].last = now
        } else if seen.count < PinAudit.chainLimit {
            seen.append(PinAudit.Seen(digests: failure.seenDigests, count: 1, last: now))
        } else {
            unlistedCount += 1
        }
    }
}
