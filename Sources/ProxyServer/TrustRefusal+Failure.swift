import ProxyCore
import ServerTrust

/// A failure of trust in the words of those who have to mend it. The switch over the reasons has no `default`: a new one has to find its
/// sentence.
extension TrustRefusal {
    package convenience init(_ failure: TrustFailure) {
        self.init(
            reason: StaticToken(failure.reason.word), host: failure.host, source: failure.policySource,
            certificate: failure.certificate.map { Certificate($0, position: failure.depth ?? 0) },
            serverKey: failure.serverKeyDigest?.description ?? "", expected: failure.expectedDigests.map(\.description),
            seen: failure.seenDigests.map(\.description), advice: Advice(failure).text)
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

/// What is wrong and what to do about it.
private struct Advice {
    private let failure: TrustFailure
    private let host: String
    private let subject: String
    /// `the settings (larder.yaml:14:5)`
    private let settings: String

    init(_ failure: TrustFailure) {
        self.failure = failure
        host = TrustRefusal.plain(failure.host, limit: TrustRefusal.lineLimit)
        subject = TrustRefusal.plain(failure.certificate?.subject ?? "the server", limit: TrustRefusal.lineLimit)
        let place = TrustRefusal.place(failure.policySource)
        settings = place.isEmpty ? "the settings" : "the settings (\(place))"
    }

    var text: String {
        switch failure.reason {
        case .pinMismatch: pinMismatch
        case .emptyPins:
            "The time of the pins in \(settings) is over: give them a later end, `expires`, once it is sure that they still hold."
        case .expired:
            "The certificate of \(subject) was valid until \(date(\.notAfter)): whoever runs the server has to renew it, unless this "
                + "machine's clock is wrong."
        case .notYetValid:
            "The certificate of \(subject) is valid from \(date(\.notBefore)) on: whoever runs the server has to wait for that, unless "
                + "this machine's clock is wrong."
        case .hostMismatch: "The certificate is not for \(host), but for \(names)."
        case .untrustedRoot:
            "The chain ends at \(subject), which is none of the anchors of \(settings): if it is your own authority, name its "
                + "certificate there (anchors: {bundle: FILE})."
        case .incompleteChain:
            "The server did not send the certificate that issued \(subject): whoever runs it has to send the whole chain."
        case .chainTooLong: "The server's chain of certificates is longer than any that is judged."
        case .badSignature: "The certificate of \(subject) is not signed by the key of the one above it."
        case .malformed: "What the server showed cannot be read as certificates, or not by the rules for them."
        case .weakKey: "The key of \(subject) is shorter than \(settings) permit."
        case .weakSignature: "The certificate of \(subject) is signed over a digest that \(settings) refuse."
        case .weakProtocol: "The server speaks only versions of TLS that are older than \(settings) permit."
        case .nameConstraint: "The certificate of \(subject) stands below one that may not issue for such names."
        case .wrongUsage: "The certificate of \(subject) is not made for what it is used for."
        case .criticalExtension: "The certificate of \(subject) demands something that is not understood here."
        case .revoked: "The certificate of \(subject) was revoked by its issuer."
        case .revocationUnknown:
            "Whether the certificate of \(subject) was revoked is not known, and \(settings) demand that it is."
        case .hostNotAllowed: "tls.hosts in the settings does not name \(host), and tls.default does not let others in."
        }
    }

    private var pinMismatch: String {
        let expected = TrustRefusal.Excerpt(failure.expectedDigests.map(\.description), count: Self.namedPins).joined(" or ")
        return
            "The server's \(isOfCertificates ? "certificate" : "key") is \(failure.seenDigests.first?.description ?? "not there"); "
            + "\(settings) expect \(expected). If this is a planned rotation, \(rotation); if not, do not add it: somebody may stand "
            + "between."
    }

    private static let namedPins = 4

    private var rotation: String {
        isOfCertificates ? "put its next certificate beside them there" : "run `larder pins rotate \(host) --add PIN`"
    }

    private var isOfCertificates: Bool { failure.seenDigests.first == failure.certificate?.digest }

    private var names: String {
        let names = TrustRefusal.Excerpt(failure.certificate?.names ?? [], count: Self.namedNames).joined()
        return names.isEmpty ? "no host at all" : names
    }

    private static let namedNames = 5

    private func date(_ date: KeyPath<CertificateFacts, POSIXTime?>) -> String {
        failure.certificate?[keyPath: date]?.rfc3339 ?? "an unknown day"
    }
}
