import Foundation
import TestSupport
import Testing

@testable import LarderSettings

@Suite("listen, with TLS")
struct ListenerSettingsTests {
    @Test(
        "Each form is read, and shown as it would be written",
        arguments: [
            ("[127.0.0.1:1]", "[\"127.0.0.1:1\"]"), ("[{address: '127.0.0.1:1'}]", "[\"127.0.0.1:1\"]"),
            ("[{address: '127.0.0.1:1', tls: authority}]", "[{address: \"127.0.0.1:1\", tls: authority}]"),
            ("[{address: '127.0.0.1:1', tls: {certificate: authority}}]", "[{address: \"127.0.0.1:1\", tls: authority}]"),
            (
                "[{address: '127.0.0.1:1', tls: {certificate: c.pem, key: k.pem, clients: r.pem}}]",
                "[{address: \"127.0.0.1:1\", tls: {certificate: c.pem, key: k.pem, clients: r.pem}}]"
            ),
        ])
    func shows(written: String, shown: String) throws {
        let read = try settings("listen: \(written)")
        let listen = try #require(SettingsSchema.byName["listen"])
        #expect(YAMLWriter.inline(listen.show(read)).replacing("\"", with: "") == shown.replacing("\"", with: ""))
    }

    @Test(
        "Problems are reported with their place",
        arguments: [
            ("[{tls: authority}]", "larder.yaml:1:10: listen[0]: expected `address`"),
            ("[{address: '127.0.0.1:1', tsl: authority}]", "unknown key `tsl`; did you mean `tls`?"),
            ("[{address: '127.0.0.1', tls: authority}]", "expected an address and a port"),
            ("[{address: '127.0.0.1:1', tls: {}}]", "expected `certificate`: a file, or `authority`"),
            ("[{address: '127.0.0.1:1', tls: {certificate: c.pem}}]", "`certificate` needs `key` too"),
            (
                "[{address: '127.0.0.1:1', tls: {certificate: authority, key: k.pem}}]",
                "`authority` has its own key; remove `key`"
            ),
            (
                "[{address: '127.0.0.1:1', tls: {certificate: c.pem, key: k, names: [a]}}]",
                "the names are in the certificate itself; remove `names`"
            ),
            ("[{address: '0.0.0.0:1', tls: authority}]", "other machines can reach 0.0.0.0:1"),
        ])
    func saysWhatIsWrong(written: String, expected: String) {
        let found = problems("listen: \(written)")
        #expect(found.count == 1 && found.first?.contains(expected) == true, "\(found)")
    }

    @Test("T01 a non-loopback listener may start if it requires client certificates")
    func opensByCertificates() {
        #expect(problems("listen: [{address: '0.0.0.0:1', tls: {certificate: authority, clients: r.pem}}]") == [])
    }

    @Test("Missing files, files without certificates, and keys of other certificates are problems of listen")
    func readsFiles() throws {
        let folder = try TemporaryFolder()
        let authority = TestAuthority()
        for (name, files) in [
            ("a", authority.serverFiles(names: "DNS:a.test")), ("b", authority.serverFiles(names: "DNS:b.test")),
        ] {
            for (ending, octets) in [("pem", files.certificate), ("key", files.key)] {
                let path = try folder.write(String(decoding: octets, as: UTF8.self), to: "\(name).\(ending)")
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            }
        }
        func told(_ tls: String) throws -> String {
            let root = try YAMLReader.read("listen: [{address: '127.0.0.1:1', tls: \(tls)}]")
            let layer = SettingsLayer(name: "larder.yaml", root: root, folder: folder.path)
            guard case .problems(let problems) = SettingsReader.read([layer], trustFiles: TrustFiles(systemBundles: [])) else {
                return ""
            }
            return problems.map(\.description).joined()
        }
        #expect(try told("{certificate: a.pem, key: a.key, clients: b.pem}") == "")
        #expect(try told("{certificate: a.pem, key: b.key}").contains("listen: 127.0.0.1:1: b.key does not belong to a.pem"))
        #expect(try told("{certificate: a.key, key: a.key}").contains("a.key contains no certificate"))
        #expect(try told("{certificate: c.pem, key: a.key}").contains("No such file"))
        #expect(try told("{certificate: a.pem, key: a.key, clients: a.key}").contains("a.key contains no PEM certificate"))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(folder.path)/a.key")
        #expect(try told("{certificate: a.pem, key: a.key}").contains("other users can access the file"))
    }
}
