import Foundation
import ServerTrust
import TestSupport
import Testing

@testable import CertificateAuthority

@Suite("Other programs' verification of a CA")
struct OthersVerdictTests {
    private static let now = POSIXTime(seconds: Int64(Date().timeIntervalSince1970))

    @Test(
        "openssl verify -x509_strict accepts root and leaf",
        arguments: ["origin.test", "xn--mnchen-3ya.corp.test", "192.0.2.7", "2001:db8::7"], [false, true])
    func verifiesStrictly(host: String, isConstrained: Bool) throws {
        let permitted = isConstrained ? ["origin.test", "corp.test", "192.0.2.0/24", "2001:db8::/32"] : []
        let authority = try authority(permitted, at: Self.now)
        let folder = try Folder()
        let root = try folder.write(authority.rootText, to: "root.pem")
        let leaf = try folder.write(authority.leaf(for: LeafName(host), at: Self.now).certificate.pem, to: "leaf.pem")
        let kind = host.contains(":") || host.hasPrefix("192") ? "-verify_ip" : "-verify_hostname"
        let run = try Program(
            "openssl", "verify", "-x509_strict", "-check_ss_sig", "-purpose", "sslserver", "-CAfile", root, kind, host, leaf)
        #expect(run.code == 0 && run.output.hasSuffix("leaf.pem: OK\n"), "\(run.output)")
    }

    @Test("The key issues no client certificates: openssl rejects the root for that purpose, whoever signs")
    func verifiesPurpose() throws {
        let folder = try Folder()
        let root = try folder.write(authority(at: Self.now).rootText, to: "root.pem")
        func verdict(_ purpose: String) throws -> Int32 {
            try Program("openssl", "verify", "-purpose", purpose, "-CAfile", root, root).code
        }
        #expect(try verdict("sslclient") != 0 && verdict("smimesign") != 0)
    }

    /// OpenSSL treats the last second as expired.
    @Test(
        "openssl also rejects a leaf before and after its root's validity",
        arguments: [(-86_401, false), (-86_400, true), (2 * 86_400 - 1, true), (2 * 86_400 + 1, false)] as [(Int64, Bool)])
    func verifiesDates(offset: Int64, isGood: Bool) throws {
        let authority = try authority(days: 2, at: Self.now)
        let folder = try Folder()
        let root = try folder.write(authority.rootText, to: "root.pem")
        let leaf = try folder.write(authority.leaf(for: .originTest, at: Self.now).certificate.pem, to: "leaf.pem")
        let time = "\(Self.now.seconds + offset)"
        let run = try Program("openssl", "verify", "-x509_strict", "-attime", time, "-CAfile", root, leaf)
        #expect((run.code == 0) == isGood, "\(run.output)")
    }

    @Test(
        "curl accepts a server with a leaf if it trusts only the root, and only for the leaf's host",
        arguments: ["origin.test", "127.0.0.1"])
    func servesCurl(host: String) throws {
        let authority = try authority(at: Self.now)
        let leaf = try authority.leaf(for: LeafName(host), at: Self.now)
        let folder = try Folder()
        let root = try folder.write(authority.rootText, to: "root.pem")
        try folder.write(leaf.certificateText + #require(leaf.keyText), to: "leaf.pem")
        let server = try OpenSSLServer(identity: folder.url.appending(path: "leaf.pem"))
        func fetch(_ host: String, root: String) throws -> Int32 {
            try Program(
                "curl", "-q", "-sS", "--noproxy", "*", "--max-time", "20", "-o", "/dev/null", "--cacert", root, "--resolve",
                "\(host):\(server.port):127.0.0.1", "https://\(host):\(server.port)/"
            ).code
        }
        #expect(try fetch(host, root: root) == 0)
        let peerFailedVerification: Int32 = 60
        #expect(try fetch(host == "origin.test" ? "other.test" : "origin.test", root: root) == peerFailedVerification)
        let stranger = try folder.write(CertificateAuthorityTests.authority(at: Self.now).rootText, to: "stranger.pem")
        #expect(try fetch(host, root: stranger) == peerFailedVerification)
    }

    @Test("keytool sees every certificate of an archive as trusted, and no key")
    func opensArchives() throws {
        let entries = try ["first", "second"].map { (alias: $0, certificate: try authority().root) }
        let folder = try Folder()
        let octets = try #require(TrustStoreArchive.octets(of: entries))
        let path = folder.url.appending(path: "trust.p12")
        try Data(octets).write(to: path)
        let parts = try Program("openssl", "pkcs12", "-in", path.path, "-passin", "pass:changeit", "-nodes")
        #expect(parts.code == 0 && parts.output.split(separator: "BEGIN CERTIFICATE").count == 3)
        #expect(!parts.output.contains("PRIVATE KEY") && parts.output.contains("friendlyName: second"))
        guard try Program("which", "keytool").code == 0 else { return }
        let listed = try Program(
            "keytool", "-J-Duser.language=en", "-list", "-keystore", path.path, "-storepass", "changeit")
        #expect(listed.output.contains("Your keystore contains 2 entries"), "\(listed.output)")
        #expect(listed.output.split(separator: "trustedCertEntry").count == 3)
    }
}

/// `openssl s_server` on a free port, which ends with this object.
private final class OpenSSLServer {
    let port: Int
    private let process = Process()
    private let folder: Folder

    init(identity: URL) throws {
        folder = try Folder()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", identity.path, "-key", identity.path, "-www",
        ]
        // To a file: processes started at the same time would keep a pipe open.
        let said = folder.url.appending(path: "said")
        try folder.write("", to: "said")
        process.standardOutput = try FileHandle(forWritingTo: said)
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        var accepting: Substring?
        try eventually { [process] in
            try #require(process.isRunning)
            accepting = try String(contentsOf: said, encoding: .utf8).firstMatch(of: /ACCEPT [^\n]*:(\d+)\n/)?.1
            return accepting != nil
        }
        port = try #require(accepting.flatMap { Int($0) })
    }

    deinit {
        // It may have inherited a mask that blocks every other signal.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
