/// Whom to believe that it is a certain host: everything but time, name and evidence, which come with each question.
public struct TrustPolicy: Sendable {
    /// Where a chain has to end.
    public enum Anchors: Sendable {
        /// At one of these.
        case given(TrustAnchors)
        /// The pinned certificates and nothing else.
        case pins
    }

    /// Where a chain has to end.
    public let anchors: Anchors
    /// Which keys or certificates have to be in it; `nil` for no matter which.
    public let pins: PinSet?
    /// Whether the certificate has to be for the host that was meant.
    public private(set) var validatesHost: Bool
    /// Whether a chain may end at a certificate that nobody vouches for. It still has to hold a pin, to be in its time and to
    /// be for the host: AFNetworking's `allowInvalidCertificates` asked none of this.
    public private(set) var allowsUntrustedRoot: Bool
    /// Whether a certificate may be past its last day. One whose first day is to come is refused all the same.
    public private(set) var allowsExpired: Bool
    /// Where the evidence says it.
    public private(set) var minimumTLSVersion: TLSVersion
    /// Of each key in the chain.
    public private(set) var minimumKeySizes: KeySizes
    /// Digests under which no signature is believed.
    public private(set) var refusedDigests: Set<SignatureDigest>
    /// Whether lists and stapled responses are asked.
    public let revocation: Revocation
    /// Whether the verdict counts signed certificate timestamps (RFC 6962 §3.3). None is judged.
    public let auditsSignedTimestamps: Bool
    /// The last second in which what weakens the policy (`isWeakened`) holds; `nil` where it holds for ever.
    public private(set) var weakUntil: POSIXTime?

    /// Where it is written, for people: `larder.yaml:12:5`. Empty where it is not said; no part of the fingerprint.
    public let source: String

    /// The pinned certificates as a store; `nil` where none is needed.
    let pinAnchors: TrustAnchors?

    /// The same for policies that say the same: what was accepted under one is not accepted under another.
    public private(set) var fingerprint = SHA256Digest(of: [])
    /// From when on nothing weakens the policy any more.
    private var laterFingerprint = SHA256Digest(of: [])

    /// What is left out is as most programs want it.
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

    /// Whether it lets pass what policies usually refuse: another host's certificate, a root that nobody trusts, what has expired,
    /// TLS below 1.2, keys below `KeySizes.usual`, signatures over MD5 or SHA-1.
    public var isWeakened: Bool {
        !validatesHost || allowsUntrustedRoot || allowsExpired || minimumTLSVersion < .tls12
            || minimumKeySizes != minimumKeySizes.raised(to: .usual) || !refusedDigests.isSuperset(of: Self.brokenDigests)
    }

    /// MD5 and SHA-1.
    public static let brokenDigests: Set<SignatureDigest> = [.md5, .sha1]

    /// The policy as it holds at a time: once `weakUntil` is over, without what weakens it, and with the fingerprint of a policy
    /// that never was weak.
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

/// A version of TLS (RFC 8446 §4.2.1), in order.
public enum TLSVersion: UInt16, Comparable, Sendable {
    case tls10 = 0x0301
    case tls11 = 0x0302
    case tls12 = 0x0303
    case tls13 = 0x0304

    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }
}

/// The least number of bits of a key. Edwards curves are always enough; other kinds of keys never.
public struct KeySizes: Equatable, Sendable {
    /// Bits of an RSA key.
    public let rsa: Int
    /// Bits of a key on a curve.
    public let ellipticCurve: Int

    /// By kinds of keys.
    public init(rsa: Int, ellipticCurve: Int) {
        self.rsa = rsa
        self.ellipticCurve = ellipticCurve
    }

    /// RSA with 2048 bits, curves with 256: what public authorities may sign.
    public static let usual = KeySizes(rsa: 2048, ellipticCurve: 256)

    var isBelowFloor: Bool { rsa < 1024 || ellipticCurve < 160 }

    func raised(to floor: KeySizes) -> KeySizes {
        KeySizes(rsa: max(rsa, floor.rsa), ellipticCurve: max(ellipticCurve, floor.ellipticCurve))
    }
}

/// A digest that a signature is made over. What stands not here is refused always.
public enum SignatureDigest: UInt8, CaseIterable, Sendable {
    case md5, sha1, sha224, sha256, sha384, sha512
}
