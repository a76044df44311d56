/// The pins of a host, whether they pin keys or certificates, and when they are enforced.
public struct PinSet: Sendable {
    /// Whether the pins are for keys or for certificates.
    public enum Mode: Sendable {
        /// A certificate of the chain must be one of the pins. A renewed certificate needs a new pin.
        case certificate
        /// A key of the chain must be one of the pins. A key can outlive the certificates issued for it.
        case publicKey
    }

    /// What happens to a chain that contains none of the pins.
    public enum Enforcement: Equatable, Sendable {
        case enforced
        /// The server is accepted, and the verdict contains the failure.
        case reported
        /// Violations are reported until this time, and the pins are enforced from then on.
        case enforcedFrom(POSIXTime)
    }

    /// What happens after the pins have expired.
    public enum Expiry: Equatable, Sendable {
        /// Every server is rejected, with `emptyPins`.
        case fails
        case reports
    }

    /// Whether keys or certificates are pinned.
    public let mode: Mode
    /// The pins, one of which the verified chain must contain.
    public let pins: [Pin]
    /// What happens to a chain that contains none of the pins.
    public let enforcement: Enforcement
    /// The last second in which the pins are enforced; `nil` for no end.
    public let expires: POSIXTime?
    /// What happens after the pins have expired.
    public let onExpiry: Expiry

    let publicKeyDigests: [SHA256Digest: Int]
    let certificateDigests: [SHA256Digest: Int]

    /// - Throws: `emptyPins`; `pinWithoutCertificate` if certificates are pinned and a pin has only a key.
    public init(
        _ mode: Mode, _ pins: [Pin], enforcement: Enforcement = .enforced, expires: POSIXTime? = nil, onExpiry: Expiry = .fails
    ) throws(TrustPolicyFault) {
        if pins.isEmpty { throw .emptyPins }
        self.mode = mode
        self.pins = pins
        self.enforcement = enforcement
        self.expires = expires
        self.onExpiry = onExpiry
        switch mode {
        case .certificate:
            var digests: [SHA256Digest: Int] = [:]
            for (index, pin) in pins.enumerated() {
                guard let certificate = pin.certificate else { throw .pinWithoutCertificate(index: index) }
                digests[certificate.digest] = index
            }
            certificateDigests = digests
            publicKeyDigests = [:]
        case .publicKey:
            certificateDigests = [:]
            publicKeyDigests = Dictionary(
                pins.enumerated().map { ($1.publicKeyDigest, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// Whether a chain that contains none of the pins is rejected at every time, now and later.
    var alwaysBinds: Bool { enforcement == .enforced && (expires == nil || onExpiry == .fails) }

    package func isExpired(at now: POSIXTime) -> Bool {
        guard let expires else { return false }
        return now > expires
    }

    package func isEnforced(at now: POSIXTime) -> Bool {
        switch enforcement {
        case .enforced: true
        case .reported: false
        case .enforcedFrom(let start): now >= start
        }
    }

    /// Whether a server with none of the pins is accepted, and reported.
    package func areOnlyReported(at now: POSIXTime) -> Bool { !refusesOthers(at: now) }

    /// Whether a server with none of the pins is rejected. Pins that are only reported reject no server, even after they have expired.
    package func refusesOthers(at now: POSIXTime) -> Bool { isEnforced(at: now) && !(isExpired(at: now) && onExpiry == .reports) }

    /// The first pin that the chain contains, from the leaf upwards.
    func match(in chain: [Certificate]) -> Pin? {
        for certificate in chain {
            let index =
                switch mode {
                case .certificate: certificateDigests[certificate.digest]
                case .publicKey: publicKeyDigests[certificate.publicKeyDigest]
                }
            if let index { return pins[index] }
        }
        return nil
    }

    /// The digest of the certificate or of its key, depending on what the pins contain.
    func digest(of certificate: Certificate) -> SHA256Digest {
        switch mode {
        case .certificate: certificate.digest
        case .publicKey: certificate.publicKeyDigest
        }
    }

    package var expectedDigests: [SHA256Digest] {
        pins.map { pin in mode == .certificate ? pin.certificate?.digest ?? pin.publicKeyDigest : pin.publicKeyDigest }
    }
}
