public import ServerTrust

/// A leaf certificate for one host, with the key that all leaves of a CA share.
public struct Leaf: Sendable {
    /// In seconds: a leaf is renewed this long before its end, unless its root ends with it.
    public static let renewal: Int64 = 30 * 86_400

    /// The host that it is for.
    public let name: LeafName
    /// The certificate that servers send.
    public let certificate: Certificate
    package let key: PrivateKey
    let validity: CertificateValidity
    let endsWithRoot: Bool

    /// The first second in which it is sent to clients.
    public var shownFrom: POSIXTime { validity.first }
    /// The last second in which it is sent to clients.
    public var shownUntil: POSIXTime {
        endsWithRoot ? validity.last : POSIXTime(seconds: validity.last.seconds - Self.renewal)
    }

    /// The key in PEM, for servers that read files.
    /// - Returns: `nil` if OpenSSL fails.
    public var keyText: String? { key.pem(passphrase: nil) }

    /// The certificate in PEM.
    public var certificateText: String { certificate.pem }

    /// Whether it is sent at this time; otherwise a new one is issued.
    public func isShown(at now: POSIXTime) -> Bool { now >= shownFrom && now <= shownUntil }
}

extension Leaf: CustomStringConvertible, CustomReflectable {
    public var description: String { "a leaf for \(name)" }

    /// Contains nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: ["name": name.description]) }
}
