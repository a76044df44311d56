public import ServerTrust

/// A leaf certificate for one host, with the key that all leaves of a CA share.
public struct Leaf: Sendable {
    /// How long before its expiry a leaf is renewed, in seconds. A leaf that expires together with its root is not renewed earlier.
    public static let renewal: Int64 = 30 * 86_400

    /// The host that the leaf is for.
    public let name: LeafName
    /// The certificate that servers send.
    public let certificate: Certificate
    package let key: PrivateKey
    let validity: CertificateValidity
    let endsWithRoot: Bool

    /// The first second in which the leaf is sent to clients.
    public var shownFrom: POSIXTime { validity.first }
    /// The last second in which the leaf is sent to clients.
    public var shownUntil: POSIXTime {
        endsWithRoot ? validity.last : POSIXTime(seconds: validity.last.seconds - Self.renewal)
    }

    /// The key in PEM, for servers that read files.
    /// - Returns: `nil` if OpenSSL fails.
    public var keyText: String? { key.pem(passphrase: nil) }

    /// The certificate in PEM.
    public var certificateText: String { certificate.pem }

    /// Whether the leaf is sent at this time; otherwise a new one is issued.
    public func isShown(at now: POSIXTime) -> Bool { now >= shownFrom && now <= shownUntil }
}

extension Leaf: CustomStringConvertible, CustomReflectable {
    public var description: String { "the leaf certificate of \(name)" }

    /// The mirror, which debuggers show, contains nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: ["name": name.description]) }
}
