/// The rules for trusting a server, without time, host and evidence, which are passed to each evaluation.
public struct TrustPolicy: Sendable {
    /// Where a chain must end.
    public enum Anchors: Sendable {
        /// The chain must end at one of these anchors.
        case given(TrustAnchors)
        /// The chain must end at one of the pinned certificates.
        case pins
    }

    /// Where a chain must end.
    public let anchors: Anchors
    /// The keys or certificates that the chain must contain; `nil` for no pins.
    public let pins: PinSet?
    /// Whether the certificate must be for the requested host.
    public private(set) var validatesHost: Bool
    /// Whether a chain may end at an untrusted certificate. It must still contain a pin and pass the policy's checks of dates
    /// and host; AFNetworking's `allowInvalidCertificates` checked none of this.
    public private(set) var allowsUntrustedRoot: Bool
    /// Whether an expired certificate is accepted. One that is not yet valid is always rejected.
    public private(set) var allowsExpired: Bool
    /// The lowest accepted version, checked if the evidence contains the version.
    public private(set) var minimumTLSVersion: TLSVersion
    /// The minimum size of each key in the chain.
    public private(set) var minimumKeySizes: KeySizes
    /// Digests whose signatures are rejected.
    public private(set) var refusedDigests: Set<SignatureDigest>
    /// Whether revocation lists and stapled responses are checked.
    public let revocation: Revocation
    /// Whether the verdict counts signed certificate timestamps (RFC 6962 §3.3). They are not verified.
    public let auditsSignedTimestamps: Bool
    /// The last second in which the weakening of the policy (`isWeakened`) applies; `nil` for no end.
    public private(set) var weakUntil: POSIXTime?

    /// Where the policy is defined, for messages: `larder.yaml:12:5`. Empty if unknown; not part of the fingerprint.
    public let source: String

    /// The pinned certificates as anchors; `nil` if they are not needed.
    let pinAnchors: TrustAnchors?

    /// Policies with the same rules have equal fingerprints. A response accepted under one fingerprint is not used under another.
    public private(set) var fingerprint = SHA256Digest(of: [])
    /// The fingerprint after `weakUntil`.
    private var laterFingerprint = SHA256Digest(of: [])

    /// A policy; the default values suit most programs.
    public init(
        anchors: Anchors, pins: PinSet? = nil, validatesHost: Bool = true, allowsUntrustedRoot: Bool = false,
        allowsExpired: Bool = false, minimumTLSVersion: TLSVersion = .tls12, minimumKeySizes: KeySizes = .usual,
        refusedDigests: Set<SignatureDigest> = TrustPolicy.brokenDigests, revocation: Revocation = .off,
        auditsSignedTimestamps: Bool = false, weakUntil: POSIXTime? = nil, source: String = ""
    ) throws(TrustPolicyFault) {
        if minimumKeySizes.isBelowFloor { throw .keySizeBelowFloor }
        if allowsUntrustedRoot, pins?.alwaysBinds != true { throw .untrustedRootWithoutBindingPins }
        self.anchors = anchors
        self.pins = pins
        self.validatesHost = validatesHost
        self.allowsUntrustedRoot = allowsUntrustedRoot
        self.allowsExpired = allowsExpired
        self.minimumTLSVersion = minimumTLSVersion
        self.minimumKeySizes = minimumKeySizes
        self.refusedDigests = refusedDigests
        self.revocation = revocation
        self.auditsSignedTimestamps = auditsSignedTimestamps
        self.weakUntil = weakUntil
        self.source = source
        pinAnchors = try Self.pinAnchors(for: anchors, pins: pins)
        fingerprint = Self.fingerprint(of: self)
        laterFingerprint = weakUntil == nil ? fingerprint : Self.fingerprint(of: strengthened)
    }

    /// Whether this policy accepts servers that policies usually reject: a certificate for another host, an untrusted root, an expired
    /// certificate, TLS below 1.2, keys below `KeySizes.usual`, signatures with MD5 or SHA-1.
    public var isWeakened: Bool {
        !validatesHost || allowsUntrustedRoot || allowsExpired || minimumTLSVersion < .tls12
            || minimumKeySizes != minimumKeySizes.raised(to: .usual) || !refusedDigests.isSuperset(of: Self.brokenDigests)
    }

    /// The broken digests: MD5 and SHA-1.
    public static let brokenDigests: Set<SignatureDigest> = [.md5, .sha1]

    /// The policy that applies at a time: after `weakUntil`, the policy without its weakening, with the fingerprint of a policy
    /// that was never weakened.
    public func active(at now: POSIXTime) -> TrustPolicy {
        guard let weakUntil, now > weakUntil else { return self }
        var policy = strengthened
        policy.fingerprint = laterFingerprint
        return policy
    }

    private var strengthened: TrustPolicy {
        var policy = self
        policy.weakUntil = nil
        policy.validatesHost = true
        policy.allowsUntrustedRoot = false
        policy.allowsExpired = false
        policy.minimumTLSVersion = max(minimumTLSVersion, .tls12)
        policy.minimumKeySizes = minimumKeySizes.raised(to: .usual)
        policy.refusedDigests.formUnion(Self.brokenDigests)
        return policy
    }

    private static func pinAnchors(for anchors: Anchors, pins: PinSet?) throws(TrustPolicyFault) -> TrustAnchors? {
        if case .pins = anchors {
            guard let pins else { throw .anchorsWithoutPins }
            guard pins.alwaysBinds else { throw .anchorsWithoutBindingPins }
        } else if pins?.mode != .certificate {
            return nil
        }
        guard let pins else { return nil }
        var certificates: [Certificate] = []
        for (index, pin) in pins.pins.enumerated() {
            guard let certificate = pin.certificate else { throw .pinWithoutCertificate(index: index) }
            certificates.append(certificate)
        }
        return try TrustAnchors(certificates)
    }
}

/// A TLS version (RFC 8446 §4.2.1), in ascending order.
public enum TLSVersion: UInt16, Comparable, Sendable {
    case tls10 = 0x0301
    case tls11 = 0x0302
    case tls12 = 0x0303
    case tls13 = 0x0304

    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }
}

/// Minimum key sizes in bits. Ed25519 and Ed448 keys are always accepted; keys of other kinds never.
public struct KeySizes: Equatable, Sendable {
    /// Bits of an RSA key.
    public let rsa: Int
    /// Bits of an elliptic-curve key.
    public let ellipticCurve: Int

    /// Minimum sizes for both kinds of keys.
    public init(rsa: Int, ellipticCurve: Int) {
        self.rsa = rsa
        self.ellipticCurve = ellipticCurve
    }

    /// RSA with 2048 bits, elliptic curves with 256: the minimum for public CAs.
    public static let usual = KeySizes(rsa: 2048, ellipticCurve: 256)

    var isBelowFloor: Bool { rsa < 1024 || ellipticCurve < 160 }

    func raised(to floor: KeySizes) -> KeySizes {
        KeySizes(rsa: max(rsa, floor.rsa), ellipticCurve: max(ellipticCurve, floor.ellipticCurve))
    }
}

/// The digest of a signature. Digests that are not listed are always rejected.
public enum SignatureDigest: UInt8, CaseIterable, Sendable {
    case md5, sha1, sha224, sha256, sha384, sha512
}
