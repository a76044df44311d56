import EventLoop
import HTTPMessage
import ServerTrust

/// Observations of servers whose pins are only reported, so that an administrator can tell what enforcing them would do. Shared
/// by all loops; handshakes with other servers do not use it.
package final class PinAudit: Sendable {
    /// The observations of one host and port under one policy: another policy starts a new finding.
    package struct Finding: Sendable {
        package let host: String
        package let port: UInt16
        package let since: Timestamp
        package fileprivate(set) var last: Timestamp
        /// The number of handshakes in which a pin matched, and of those in which no pin matched.
        package fileprivate(set) var matchedCount: UInt64 = 0
        package fileprivate(set) var mismatchedCount: UInt64 = 0
        /// The expected pins, as in `TrustFailure`; empty as long as a pin has matched in every handshake.
        package fileprivate(set) var expected: [SHA256Digest] = []
        /// The chains in which no pin matched, in the order in which they were first seen.
        package fileprivate(set) var seen: [Seen] = []
        /// The number of handshakes with further chains, which are not listed.
        package fileprivate(set) var unlistedCount: UInt64 = 0
        fileprivate let fingerprint: SHA256Digest
    }

    package struct Seen: Sendable {
        /// The digests of the chain, the server's first.
        package let digests: [SHA256Digest]
        package fileprivate(set) var count: UInt64
        package fileprivate(set) var last: Timestamp
    }

    /// Limits for hosts, and for chains of one host; further hosts and chains are only counted.
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

    /// The findings ordered by host, and the number of handshakes with hosts beyond the limit.
    package var findings: (listed: [Finding], unlistedCount: UInt64) {
        state.withLock { state in
            let listed = state.findings.values.sorted { ($0.host, $0.port) < ($1.host, $1.port) }
            return (listed, state.unlistedCount)
        }
    }

    /// Removes hosts whose pins are no longer reported, so that others can be listed.
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
