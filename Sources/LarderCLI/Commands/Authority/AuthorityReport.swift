import CertificateAuthority
import CommandSupport
import LocalCA
import ServerTrust
import TextCoding

/// A root certificate as text.
struct AuthorityReport {
    private let facts: CertificateFacts
    private let fingerprint: String
    private let permitted: [String]?

    init(_ root: Certificate, isConstrained constraint: NameConstraint?) {
        facts = root.facts
        fingerprint = RootEntry(root).fingerprint
        permitted = constraint?.permitted
    }

    /// Whether the root certificate is valid at this time.
    func isActive(at now: POSIXTime) -> Bool {
        guard let first = facts.notBefore, let last = facts.notAfter else { return false }
        return now >= first && now <= last
    }

    func text(at now: POSIXTime) -> String {
        """
        \(printable(facts.subject, limit: 512))
          sha256  \(fingerprint)
          valid   \(days)\(isActive(at: now) ? "" : ", not now")
          for     \(permitted.map { printable($0.joined(separator: ", "), limit: 4096) } ?? "every host")

        """
    }

    func members(at now: POSIXTime) -> [(String, JSONText)] {
        [
            ("subject", .string(facts.subject)), ("sha256", .string(fingerprint)), ("serial_number", .string(facts.serialNumber)),
            ("not_before", .string(day(facts.notBefore))), ("not_after", .string(day(facts.notAfter))),
            ("in_force", .bool(isActive(at: now))), ("permitted", permitted.map { .array($0.map { .string($0) }) } ?? .null),
        ]
    }

    private var days: String { "from \(day(facts.notBefore)) to \(day(facts.notAfter))" }

    private func day(_ time: POSIXTime?) -> String { time.map { CalendarDay(of: $0).description } ?? "unknown" }
}
