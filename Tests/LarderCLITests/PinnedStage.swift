import Foundation
import ServerTrust
import TestSupport
import Testing

/// TLS servers, a CA for them, and a folder with the CA's certificate that settings are written to.
final class PinnedStage {
    let folder: TemporaryFolder
    let authority = TestAuthority()
    private(set) var origins: [ScriptedOrigin] = []

    init() throws {
        folder = try TemporaryFolder()
        _ = try folder.write(CertificateText.pem(authority.der), to: "root.pem")
    }

    deinit { for origin in origins { origin.stop() } }

    /// A server that responds to every request with `secret`.
    func serve(_ identity: TLSIdentity, port: UInt16 = 0) -> ScriptedOrigin {
        let origin = ScriptedOrigin(port: port, identity: identity) { connection in
            while connection.readHead() != nil { connection.respond(fields: "", body: "secret") }
        }
        origins.append(origin)
        return origin
    }

    /// Nothing listens there any more.
    func stop(_ origin: ScriptedOrigin) {
        origins.removeAll { $0 === origin }
        origin.stop()
    }

    /// - Returns: the path of the settings.
    func settings(_ yaml: String) throws -> String { try folder.write(yaml, to: "larder.yaml") }

    func read(_ name: String) throws -> String { try String(contentsOfFile: "\(folder.path)/\(name)", encoding: .utf8) }

    static func pin(_ identity: TLSIdentity) throws -> SHA256Digest {
        try #require(Certificate(der: identity.der)).publicKeyDigest
    }
}
