public import ServerTrust

/// A certificate for one host, with the key that all leaves of an authority share.
public struct Leaf: Sendable {
    /// One that is nearer to its end is made again, unless its root ends with it.
    public static let renewal: Int64 = 30 * 86_400

    /// Whom it is for.
    public let name: LeafName
    /// What is shown.
    public let certificate: Certificate
    package let key: PrivateKey
    let validity: CertificateValidity
    let endsWithRoot: Bool

    /// The first second in which it is shown to clients.
    public var shownFrom: POSIXTime { validity.first }
    /// The last second in which it is shown to clients.
    public var shownUntil: POSIXTime {
        endsWithRoot ? validity.last : POSIXTime(seconds: validity.last.seconds - Self.renewal)
    }

    /// The key in PEM, for who serves by files.
    /// - Returns: `nil` where OpenSSL fails.
    public var keyText: String? { key.pem(passphrase: nil) }

    /// The certificate in PEM.
    public var certificateText: String { certificate.pem }

    /// Whether it is shown at a time, or another one is made.
    public func isShown(at now: POSIXTime) -> Bool { now >= shownFrom && now <= shownUntil }
}

extension Leaf: CustomStringConvertible, CustomReflectable {
    public var description: String { "a leaf for \(name)" }

    /// Nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: ["name": name.description]) }
}
