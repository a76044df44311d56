import Foundation
@testable import LarderSettings
import ServerTrust
import TestSupport
import Testing

@Suite("tls.client_certificates")
struct ClientCertificateSettingsTests {
    private let folder: TemporaryFolder
    private let locked = TestAuthority().clientFiles(passphrase: "open sesame")

    init() throws {
        folder = try TemporaryFolder()
        let plain = TestAuthority().clientFiles()
        for (name, octets) in [
            ("me.pem", plain.certificate), ("me.key", plain.key), ("locked.pem", locked.certificate), ("locked.key", locked.key),
            ("locked.p12", locked.pkcs12), ("phrase", Array("open sesame\nnot this\n".utf8)),
        ] { try write(octets, to: name) }
        try write(plain.key, to: "open.key", mode: 0o644)
    }

    @Test("Each host has its own certificate, from PEM or PKCS #12, with a passphrase from the environment or a file")
    func reads() throws {
        let trust = try load(
            """
            tls:
              client_certificates:
                A.example: {certificate: me.pem, key: me.key}
                "b.example:8443": {certificate: locked.pem, key: locked.key, passphrase: "${env:PHRASE}"}
                192.0.2.1: {pkcs12: locked.p12, passphrase: "${file:phrase}"}
            """)
        #expect(trust.identities.value(host: "a.example", port: 443)?.certificates.count == 1)
        #expect(
            trust.identities.value(host: "b.example", port: 8443)?.certificates == Certificate.reading(pem: locked.certificate))
        #expect(trust.identities.value(host: "b.example", port: 443) == nil)
        #expect(trust.identities.value(host: "192.0.2.1", port: 1)?.certificates == Certificate.reading(pem: locked.certificate))
        #expect(trust.identities.value(host: "www.a.example", port: 443) == nil)
    }

    @Test(
        "Problems are reported with their place, and without secrets",
        arguments: [
            ("\"*.a.example\": {certificate: me.pem, key: me.key}", "expected one host"),
            ("a.example: {certificate: me.pem}", "expected `certificate` and `key`, or `pkcs12`"),
            ("a.example: {certificate: me.pem, key: me.key, pkcs12: locked.p12}", "or `pkcs12`"),
            ("a.example: {certificate: me.pem, key: open.key}", "other users can access the file; restrict it with `chmod 600`"),
            ("a.example: {certificate: me.pem, key: locked.key}", "`passphrase` is missing"),
            ("a.example: {certificate: locked.pem, key: me.key}", "this key does not belong to the certificate"),
            ("a.example: {certificate: me.key, key: me.key}", "contains no certificate"),
            ("a.example: {pkcs12: locked.p12, passphrase: open sesame}", "expected `${env:NAME}` or `${file:PATH}`"),
            ("a.example: {pkcs12: locked.p12, passphrase: '${env:NONE}'}", "the variable is not set"),
            ("a.example: {pkcs12: locked.p12, passphrase: '${env:HOME}'}", "this passphrase is wrong"),
            ("a.example: {pkcs12: me.key}", "is not PKCS #12"),
            ("a.example: {pkcs12: none.p12}", "No such file"),
        ])
    func refuses(entry: String, message: String) throws {
        let problems = try problems("tls: {client_certificates: {\(entry)}}")
        #expect(problems.count == 1)
        #expect(problems.first?.contains(message) == true, "\(problems)")
        #expect(problems.first?.contains("larder.yaml:1:") == true, "\(problems)")
        #expect(!problems.joined().contains("sesame"))
    }

    // MARK: Fixtures

    private func write(_ octets: [UInt8], to name: String, mode: Int = 0o600) throws {
        try Data(octets).write(to: URL(filePath: "\(folder.path)/\(name)"))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(folder.path)/\(name)")
    }

    private func outcome(_ yaml: String) throws -> SettingsReader.Outcome {
        let file = try folder.write(yaml + "\n", to: "larder.yaml")
        var files = TrustFiles()
        files.environment = ["PHRASE": "open sesame", "HOME": "/"]
        return SettingsSources(file: file, environment: [:], trustFiles: files).load().outcome
    }

    private func load(_ yaml: String) throws -> LoadedTrust {
        switch try outcome(yaml) {
        case .settings(let settings): return try #require(settings.tls.loaded)
        case .problems(let problems): throw Refused(problems: problems.map(\.description))
        }
    }

    private func problems(_ yaml: String) throws -> [String] {
        guard case .problems(let problems) = try outcome(yaml) else { return [] }
        return problems.map(\.description)
    }

    private struct Refused: Error { let problems: [String] }
}
