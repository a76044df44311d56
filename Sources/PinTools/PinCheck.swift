import CommandSupport
import Foundation
import LarderSettings
import ServerTrust
import TextCoding
import UpstreamTransport

/// The state of a host's pins: what its server sends, and upcoming problems.
package struct PinCheck: Sendable {
    enum Outcome: String, Sendable {
        /// The server is trusted, and a pin matches.
        case good
        /// The server is trusted, but no pin matches: the pins are report-only.
        case reported
        case refused
        case unreachable
        /// A policy without pins applies to the host.
        case unpinned
        /// The name is a pattern, so no single server can be checked.
        case pattern
    }

    struct Warning: Equatable, Sendable {
        /// The code of the warning, for programs.
        let code: String
        let sentence: String
    }

    let title: String
    let result: Outcome
    let sentence: String
    var warnings: [Warning] = []
    var matched: SHA256Digest?
    var daysToExpiry: Int?
    /// The verified chain, or the rejected chain. The server's certificate is first.
    var chain: [CertificateFacts] = []

    /// Whether requests to the host fail, or will fail once its pins are enforced.
    var isFault: Bool { result == .refused || result == .reported }

    package init(pattern title: String) {
        self.title = title
        result = .pattern
        sentence = "a pattern is not a server: name a host that it matches"
    }

    /// - Parameters:
    ///   - policy: the policy that the server was verified with; `nil` if the host is denied.
    ///   - days: how many days before an expiry to warn.
    init(_ server: NamedServer, _ judgement: InspectionOutcome, policy: TrustPolicy?, at now: POSIXTime, warningDays days: Int) {
        title = server.title
        switch judgement {
        case .unreachable(let error):
            result = .unreachable
            sentence = error.words
        case .refused(let failure):
            result = .refused
            sentence = Self.sentence(of: failure)
            chain = failure.chain.map(\.facts)
        case .believed(let verdict):
            chain = verdict.chain.map(\.facts)
            daysToExpiry = verdict.daysToExpiry
            matched = verdict.matchedPin?.publicKeyDigest
            if let failure = verdict.reported {
                result = .reported
                sentence = "report only: " + Self.sentence(of: failure)
            } else if let pin = verdict.matchedPin {
                result = .good
                sentence = "\(pin) is the key of the \(Self.place(of: pin, in: verdict.chain))"
            } else {
                result = .unpinned
                sentence = "the host has no pins"
            }
            warnings = Self.warnings(verdict, policy, at: now, within: days)
        }
    }

    /// The certificate's place in the chain: `leaf`, `intermediate` or `root`.
    static func role(depth: Int, count: Int) -> String { depth == 0 ? "leaf" : depth == count - 1 ? "root" : "intermediate" }

    private static func place(of pin: Pin, in chain: [Certificate]) -> String {
        let depth = chain.firstIndex { $0.publicKeyDigest == pin.publicKeyDigest } ?? 0
        return role(depth: depth, count: chain.count)
    }

    private static func sentence(of failure: TrustFailure) -> String {
        guard failure.reason == .pinMismatch, let seen = failure.seenDigests.first else {
            return "\(failure.reason.rawValue)" + (failure.certificate.map { ": \($0.subject)" } ?? "")
        }
        let shown = failure.expectedDigests.prefix(expectedShown).map { "\($0)" }.joined(separator: ", ")
        let more = failure.expectedDigests.count > expectedShown ? ", …" : ""
        return "pin_mismatch: the server's key is \(seen); the pins are \(shown)\(more)"
    }

    private static let expectedShown = 5

    // MARK: Upcoming problems

    private static func warnings(
        _ verdict: TrustVerdict, _ policy: TrustPolicy?, at now: POSIXTime, within days: Int
    ) -> [Warning] {
        var found: [Warning] = []
        if let pins = policy?.pins {
            if verdict.matchedPin != nil, !pins.hasBackup(besides: verdict.chain) {
                let sentence = "no pin is a backup: when the server's key changes, all connections fail (RFC 7469 §4.3)"
                found.append(Warning(code: "no_backup", sentence: sentence))
            }
            if let expires = pins.expires {
                let left = (expires.seconds - now.seconds) / 86_400
                if now > expires {
                    found.append(Warning(code: "pins_expired", sentence: "the pins have expired"))
                } else if left < days {
                    found.append(Warning(code: "pins_expire", sentence: "the pins expire in \(left) days"))
                }
            }
        }
        if verdict.daysToExpiry < days {
            let isLeafPinned = verdict.matchedPin?.publicKeyDigest == verdict.chain[0].publicKeyDigest
            let sentence =
                "a certificate of the server's chain expires in \(verdict.daysToExpiry) days"
                + (isLeafPinned ? ", and the pin is the key of the leaf certificate" : "")
            found.append(Warning(code: "chain_expires", sentence: sentence))
        }
        return found
    }
}

extension PinCheck {
    /// Verifies servers now, with one handshake each.
    /// - Parameter days: how many days before an expiry to warn.
    package static func judging(_ servers: [NamedServer], _ settings: LarderSettings, warningDays days: Int = 14) throws
        -> [PinCheck]
    {
        let now = POSIXTime.now
        return zip(servers, try ServerInspector(settings).judge(servers)).map { server, judgement in
            let policy = settings.tls.loaded?.policies.policy(host: server.host, port: server.origin.port)
            return PinCheck(server, judgement, policy: policy?.active(at: now), at: now, warningDays: days)
        }
    }

    package var json: JSONText {
        var members: [(String, JSONText)] = [
            ("host", .string(title)), ("result", .string(result.rawValue)),
            ("sentence", .string(printable(sentence, limit: 4096))),
            ("warnings", .array(warnings.map { .object([("code", .string($0.code)), ("sentence", .string($0.sentence))]) })),
        ]
        if let matched { members.append(("matched", .string("\(matched)"))) }
        if let daysToExpiry { members.append(("days_to_expiry", .number(daysToExpiry))) }
        members.append(("chain", .array(chain.map(\.json))))
        return .object(members)
    }

    /// The sentence, and when the chain expires.
    var finding: String { sentence + (daysToExpiry.map { "; the chain expires in \($0) days" } ?? "") }

    /// The result as text for people, with the chain.
    package var text: String {
        let lines =
            ["server: \(title) is \(result.rawValue): \(finding)"] + warnings.map { "  warning: \($0.sentence)" }
            + chain.map { "  \($0.publicKeyDigest) \($0.subject)" }
        return lines.map { printable($0, limit: 4096) + "\n" }.joined()
    }
}

extension PinSet {
    /// Whether any pin is not in the chain and so is a backup (RFC 7469 §4.3), whether or not the settings list it under `backup`.
    func hasBackup(besides chain: [Certificate]) -> Bool {
        let shown = Set(chain.map { mode == .certificate ? $0.digest : $0.publicKeyDigest })
        return pins.contains {
            !shown.contains(mode == .certificate ? $0.certificate?.digest ?? $0.publicKeyDigest : $0.publicKeyDigest)
        }
    }
}
