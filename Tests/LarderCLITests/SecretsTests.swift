import Foundation
import TestSupport
import Testing

@Suite("Secrets in the settings")
struct SecretsTests {
    private static let passphrase = "open sesame 7421"
    private static let wrongPassphrase = "close sesame 9356"

    /// A Larder with a client certificate and a server that requires one; `keys` has the secrets, and all other files of the folder are
    /// searched.
    private final class Stage {
        let folder: TemporaryFolder
        let files: ClientFiles
        let origin: ScriptedOrigin
        let larder: ServeTests.Served
        let port: UInt16
        private(set) var heard = Data()

        init() throws {
            folder = try TemporaryFolder()
            let authority = TestAuthority()
            files = authority.clientFiles(passphrase: SecretsTests.passphrase)
            let identity = authority.identity(names: "IP:127.0.0.1,DNS:other.test", asksClients: true)
            origin = ScriptedOrigin(identity: identity) { connection in
                while connection.readHead() != nil { connection.respond(fields: "Cache-Control: max-age=600\r\n", body: "kept") }
            }
            _ = try folder.write(CertificateText.pem(authority.der), to: "root.pem")
            for (name, octets) in [
                ("me.pem", files.certificate), ("me.key", files.key), ("me.p12", files.pkcs12),
                ("phrase", Array(SecretsTests.passphrase.utf8)),
            ] {
                let path = try folder.write(String(), to: "keys/\(name)")
                try Data(octets).write(to: URL(filePath: path))
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            }
            larder = try ServeTests.Served(
                """
                log: {level: trace, access: {query: true}}
                resolve: {other.test: 127.0.0.1}
                tls:
                  default: {anchors: {bundle: root.pem}}
                  client_certificates:
                    127.0.0.1: {certificate: keys/me.pem, key: keys/me.key, passphrase: "${file:keys/phrase}"}
                    two.test: {pkcs12: keys/me.p12, passphrase: "${file:keys/phrase}"}
                """, in: folder, store: "store.sqlite")
            port = UInt16(try #require(try larder.ports().first))
        }

        deinit { origin.stop() }

        func fetch(_ host: String) throws -> ReceivedResponse {
            let client = try RawClient(port: port, owner: self)
            client.send(
                "GET https://\(host):\(origin.port)/ HTTP/1.1\r\nHost: \(host):\(origin.port)\r\nAccept: application/json\r\n\r\n"
            )
            let response = try client.readResponse(to: "GET")
            hear(response.statusLine + "\(response.lines)" + response.text)
            return response
        }

        func run(_ arguments: String...) throws -> CommandLineTests.Outcome {
            let outcome = try CommandLineTests.larder(arguments)
            hear(outcome.output + outcome.talk)
            return outcome
        }

        func hear(_ text: String) { heard.append(contentsOf: Data(text.utf8)) }

        /// Everything that Larder has output or written, by place.
        func everything() throws -> [String: Data] {
            var found = ["said": Data(larder.said.utf8), "heard": heard]
            let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
            for name in names where !name.hasPrefix("keys") {
                if let data = FileManager.default.contents(atPath: "\(folder.path)/\(name)") { found[name] = data }
            }
            return found
        }

        /// The secrets, in every form in which they could leak.
        var secrets: [String: Data] {
            let number = Data(files.secret)
            let hex = files.secret.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            let keyLines = String(decoding: files.key, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("-") }
            let texts = [
                "the passphrase": SecretsTests.passphrase, "the wrong passphrase": SecretsTests.wrongPassphrase,
                "the key in hexadecimal": hex, "the key in capital hexadecimal": hex.uppercased(),
                "the key in base 64": number.base64EncodedString(), "the file of the key": String(keyLines[1]),
            ]
            return texts.mapValues { Data($0.utf8) }.merging(["the key": number, "the archive": Data(files.pkcs12.suffix(48))]) {
                $1
            }
        }
    }

    @Test("Passphrases and keys are not in any output, response, log or store of Larder, nor in a core file")
    func areFoundNowhere() throws {
        let stage = try Stage()
        #expect(try stage.fetch("127.0.0.1").text == "kept")
        #expect(try stage.fetch("other.test").text.contains("client_certificate_required"))
        let settings = stage.larder.settings
        let socket = "admin.socket=\(stage.folder.path)/admin.sock"
        #expect(try stage.run("config", "show", "-c", settings).code == 0)
        #expect(try stage.run("config", "check", "-c", settings).code == 0)
        _ = try stage.run("explain", "https://127.0.0.1:\(stage.origin.port)/", "--connect", "-c", settings, "--set", socket)
        _ = try stage.run("status", "--set", socket)

        // The error for a wrong passphrase does not contain it.
        let phrase = "\(stage.folder.path)/keys/phrase"
        try Data(Self.wrongPassphrase.utf8).write(to: URL(filePath: phrase))
        stage.larder.signal(SIGHUP)
        #expect(stage.larder.says("this passphrase is wrong"))
        #expect(try stage.run("config", "check", "-c", settings).code == 2)

        stage.larder.signal(SIGSEGV)
        #expect(stage.larder.hasEnded())
        let everything = try stage.everything()
        #expect(everything["store.sqlite"]?.range(of: Data("kept".utf8)) != nil || everything["store.sqlite-wal"] != nil)
        #expect(everything["access.log"] != nil)
        let around = try FileManager.default.contentsOfDirectory(atPath: FileManager.default.currentDirectoryPath)
        #expect(!(around + everything.keys).contains { $0.hasPrefix("core") })
        for (place, data) in everything {
            for (name, secret) in stage.secrets where data.range(of: secret) != nil {
                Issue.record("\(name) stands in \(place)")
            }
        }
    }
}
