import ProxyCore
import ServerTrust

/// Trust failures with advice for users. The switch over the reasons has no `default`, so that the compiler requires a sentence
/// for each new reason.
extension TrustRefusal {
    /// - Parameter port: the server's port.
    package convenience init(_ failure: TrustFailure, port: UInt16) {
        self.init(
            reason: StaticToken(failure.reason.word), host: failure.host, source: failure.policySource,
            certificate: failure.certificate.map { Certificate($0, position: failure.depth ?? 0) },
            serverKey: failure.serverKeyDigest?.description ?? "", expected: failure.expectedDigests.map(\.description),
            seen: failure.seenDigests.map(\.description), advice: Advice(failure, port: port).text)
    }
}

extension TrustRefusal.Certificate {
    fileprivate init(_ facts: CertificateFacts, position: Int) {
        self.init(
            position: position, subject: facts.subject, issuer: facts.issuer, names: facts.names,
            notBefore: facts.notBefore?.rfc3339 ?? "", notAfter: facts.notAfter?.rfc3339 ?? "", serialNumber: facts.serialNumber,
            key: facts.publicKeyDigest.description, digest: facts.digest.description)
    }
}

/// What is wrong and how to fix it.
private struct Advice {
    private let failure: TrustFailure
    private let host: String
    /// The host, with its port where that is not the usual one.
    private let server: String
    private let subject: String
    /// The place of the policy, as in `the settings (larder.yaml:14:5)`.
    private let settings: String

    init(_ failure: TrustFailure, port: UInt16) {
        self.failure = failure
        host = TrustRefusal.plain(failure.host, limit: TrustRefusal.lineLimit)
        server = port == 443 ? host : "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        subject = TrustRefusal.plain(failure.certificate?.subject ?? "the server", limit: TrustRefusal.lineLimit)
        let place = TrustRefusal.place(failure.policySource)
        settings = place.isEmpty ? "the settings" : "the settings (\(place))"
    }

    var text: String {
        switch failure.reason {
        case .pinMismatch: pinMismatch
        case .emptyPins:
            "The pins in \(settings) have expired: set a later `expires` after you have checked that they are still right."
        case .expired:
            "The certificate of \(subject) expired on \(date(\.notAfter)): the server's operator must renew it, unless this "
                + "machine's clock is wrong."
        case .notYetValid:
            "The certificate of \(subject) is not valid before \(date(\.notBefore)): the server's operator must replace it or wait, unless "
                + "this machine's clock is wrong."
        case .hostMismatch: hostMismatch
        case .untrustedRoot:
            "The chain ends at \(subject), which is not a trusted CA in \(settings): if it is your own CA, add its "
                + "certificate there (anchors: {bundle: FILE})."
        case .incompleteChain:
            "The server did not send the certificate that issued \(subject): if that is your own CA, add its certificate in "
                + "\(settings) (anchors: {bundle: FILE}). Otherwise the server's operator must send the missing certificate."
        case .chainTooLong: "The server's certificate chain is too long."
        case .badSignature: "The certificate of \(subject) is not signed by the key of its issuer in the chain."
        case .malformed: "The server's certificates are malformed."
        case .weakKey: "The key of \(subject) is shorter than \(settings) allow."
        case .weakSignature: "The certificate of \(subject) is signed with a digest that \(settings) do not allow."
        case .weakProtocol: "The server supports only TLS versions older than \(settings) allow."
        case .nameConstraint: "The certificate of \(subject) contains a name for which its issuer may not issue certificates."
        case .wrongUsage:
            (failure.depth ?? 0) == 0
                ? "The certificate of \(subject) may not be used for server authentication."
                : "The certificate of \(subject) may not issue certificates for server authentication."
        case .criticalExtension: "The certificate of \(subject) has a critical extension that Larder does not support."
        case .revoked: "The certificate of \(subject) was revoked by its issuer."
        case .revocationUnknown:
            "Larder cannot find out whether the certificate of \(subject) was revoked, but \(settings) require a revocation check."
        case .hostNotAllowed: "Neither tls.hosts nor tls.pins_from lists \(host), and tls.default denies other hosts."
        }
    }

    private var pinMismatch: String {
        let expected = TrustRefusal.Excerpt(failure.expectedDigests.map(\.description), count: Self.namedPins).joined(" or ")
        return
            "The server's \(isOfCertificates ? "certificate" : "key") is \(failure.seenDigests.first?.description ?? "missing"); "
            + "\(settings) expect \(expected). If this is a planned rotation, \(rotation); otherwise, change nothing: someone may be intercepting "
            + "the connection."
    }

    private static let namedPins = 4

    private var rotation: String {
        isOfCertificates ? "add the server's next certificate to these pins" : "run `larder pins rotate \(server) --add PIN`"
    }

    private var isOfCertificates: Bool { failure.seenDigests.first == failure.certificate?.digest }

    private var hostMismatch: String {
        let names = TrustRefusal.Excerpt(failure.certificate?.names ?? [], count: Self.namedNames).joined()
        return names.isEmpty
            ? "The certificate names no host, so it is not valid for \(host)."
            : "The certificate is for \(names), not for \(host)."
    }

    private static let namedNames = 5

    private func date(_ date: KeyPath<CertificateFacts, POSIXTime?>) -> String {
        failure.certificate?[keyPath: date]?.rfc3339 ?? "an unknown date"
    }
}
