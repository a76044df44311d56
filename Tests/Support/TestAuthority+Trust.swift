import HTTPMessage
import ServerTrust

/// A test certificate that OpenSSL can parse but ServerTrust cannot.
package struct UnreadableCertificate: Error {}

extension TestAuthority {
    /// One policy for every host: trusts this CA, with the given options.
    package func policies(
        pins: PinSet? = nil, revocation: Revocation = .off, minimumTLSVersion: TLSVersion = .tls12
    ) throws -> TrustPolicySet {
        try TrustPolicySet(
            [], fallback: .policy(policy(pins: pins, revocation: revocation, minimumTLSVersion: minimumTLSVersion)))
    }

    package func policy(
        pins: PinSet? = nil, revocation: Revocation = .off, minimumTLSVersion: TLSVersion = .tls12
    ) throws -> TrustPolicy {
        guard let certificate = Certificate(der: der) else { throw UnreadableCertificate() }
        return try TrustPolicy(
            anchors: .given(TrustAnchors([certificate])), pins: pins, minimumTLSVersion: minimumTLSVersion,
            revocation: revocation)
    }
}

extension TLSIdentity {
    /// A pin of its key.
    package func pins(enforcement: PinSet.Enforcement = .enforced, expires: POSIXTime? = nil) throws -> PinSet {
        guard let certificate = Certificate(der: der) else { throw UnreadableCertificate() }
        return try PinSet(.publicKey, [Pin(certificate: certificate)], enforcement: enforcement, expires: expires)
    }
}

extension ScriptedOrigin {
    /// An origin that responds to each request with its target.
    package static func secure(_ identity: TLSIdentity) -> ScriptedOrigin {
        ScriptedOrigin(identity: identity) { connection in
            while let head = connection.readHead() { connection.respond(body: OriginRequest(head: head).target) }
        }
    }
}
