/// The pins of a host, what they pin, and from when and until when they bind.
public struct PinSet: Sendable {
    /// What is pinned.
    public enum Mode: Sendable {
        /// A certificate of the chain is one of the pins. A renewed certificate needs a new pin.
        case certificate
        /// A key of the chain is one of the pins. It outlives the certificates that are made for it.
        case publicKey
    }

    /// What a chain without a pin means.
    public enum Enforcement: Equatable, Sendable {
        case enforced
        /// The verdict names the failure, and accepts.
        case reported
        /// Reported before, enforced from then on.
        case enforcedFrom(POSIXTime)
    }

    /// What it means that the pins' time is over.
    public enum Expiry: Equatable, Sendable {
        /// Nobody is let through: `emptyPins`.
        case fails
        case reports
    }

    /// Keys or certificates.
    public let mode: Mode
    /// One of them has to be in the verified chain.
    public let pins: [Pin]
    /// What becomes of a chain that has none of them.
    public let enforcement: Enforcement
    /// The last second in which the pins bind; `nil` for ever.
    public let expires: POSIXTime?
    /// What the end of their time means.
    public let onExpiry: Expiry

    let publicKeyDigests: [SHA256Digest: Int]
    let certificateDigests: [SHA256Digest: Int]

    /// - Throws: `emptyPins`; `pinWithoutCertificate` where certificates are pinned and one of the pins is only a key.
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

    /// Whether no time will come, and none is now, at which a chain without a pin is let through.
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

    /// Whether a server that has none of them is let through, and told of.
    package func areOnlyReported(at now: POSIXTime) -> Bool { !refusesOthers(at: now) }

    /// Whether a server that has none of them is refused. Those that are only reported on refuse nobody, nor when their time is over.
    package func refusesOthers(at now: POSIXTime) -> Bool { isEnforced(at: now) && !(isExpired(at: now) && onExpiry == .reports) }

    /// The first pin, from the leaf upwards, that the chain holds.
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

    /// What was pinned and what is there, in the same words.
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
