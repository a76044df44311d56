import CertificateAuthority
import CommandSupport
import HTTPMessage
import LarderSettings
import LocalCA
import ProxyAdmin
import ResponseStore
import ServerTrust
import TextCoding

/// `GET /v1/trust`: the trust policies, pins and root certificate. `GET /v1/trust/servers`: the certificates of servers with stored
/// responses.
enum TrustRoute {
    /// - Parameter trust: returns the active settings.
    static func route(_ trust: @escaping @Sendable () -> TrustSettings) -> AdminRoute {
        AdminRoute(.get, "/v1/trust", .read) { _, exchange in exchange.answer(json: json(trust())) }
    }

    static func servers(_ store: ResponseStore) -> AdminRoute {
        AdminRoute(.get, "/v1/trust/servers", .read) { _, exchange in
            exchange.stream(
                contentType: "application/json",
                next: CacheAnswers.origins(CacheSource(store)) { origin, record, time in server(origin, record, time) })
        }
    }

    private static func json(_ trust: TrustSettings) -> JSONText {
        let loaded = trust.loaded
        return .object([
            ("default", loaded.map { policy($0.fallbackSite) } ?? .null),
            ("hosts", .array((loaded?.sites ?? []).map(policy))), ("pins", .array((loaded?.pinned ?? []).map(pins))),
            ("root", loaded?.authority.map { certificate($0.root) } ?? .null),
            ("warnings", .array(trust.warnings().map(JSONText.string))),
        ])
    }

    private static func policy(_ site: SettingsLocation) -> JSONText {
        .object([
            ("host", site.entry.map { .string($0.name) } ?? .null),
            ("policy", .string(site.terms.words.isEmpty ? "" : YAMLWriter.write(site.terms.words, indentation: 0))),
            ("source", .string(site.position)),
        ])
    }

    private static func pins(_ host: PinnedHost) -> JSONText {
        .object([
            ("host", .string(host.title)), ("live", .array(host.live.map { .string("\($0)") })),
            ("backup", .array(host.backup.map { .string("\($0)") })),
            ("expires", host.expires.map { .string("\($0)") } ?? .null), ("report_only", .bool(host.isReportOnly)),
        ])
    }

    private static func server(_ origin: String, _ record: [UInt8], _ time: Timestamp) -> JSONText {
        let leaf = ServerEvidence(record: record)?.certificates.first
        return .object([
            ("origin", .string(origin)), ("seen", .string(time.rfc3339)), ("certificate", leaf.map(certificate) ?? .null),
        ])
    }

    private static func certificate(_ certificate: Certificate) -> JSONText {
        let facts = certificate.facts
        return .object([
            ("subject", .string(facts.subject)), ("issuer", .string(facts.issuer)),
            ("not_before", .string(day(facts.notBefore))), ("not_after", .string(day(facts.notAfter))),
            ("days_left", facts.notAfter.map { .number(Int(($0.seconds - POSIXTime.now.seconds) / 86_400)) } ?? .null),
            ("key", .string("\(facts.publicKeyDigest)")),
        ])
    }

    private static func day(_ time: POSIXTime?) -> String { time.map { CalendarDay(of: $0).description } ?? "unknown" }
}
