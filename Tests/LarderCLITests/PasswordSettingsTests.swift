import Foundation
import HTTPMessage
import TestSupport
import Testing

@testable import LarderCLI
@testable import LarderSettings

@Suite("clients.passwords")
struct PasswordSettingsTests {
    private static let hash = "$2y$04$abcdefghijklmnopqrstuu/LVz6MZlItEy42I2juLihZ66HnQx/cy"
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func write(_ text: String, mode: Int = 0o600) throws {
        let path = try folder.write(text, to: "passwords")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private func problems(_ yaml: String) throws -> [String] {
        let root = try YAMLReader.read(yaml)
        let layer = SettingsLayer(name: "larder.yaml", root: root, folder: folder.path)
        switch SettingsReader.read([layer], trustFiles: TrustFiles(systemBundles: [])) {
        case .settings(let settings):
            #expect((settings.clients.loadedPasswords != nil) == (settings.clients.passwords != nil))
            return []
        case .problems(let problems): return problems.map(\.description)
        }
    }

    @Test("T01 A non-loopback address needs a list of clients or passwords, and authentication needs passwords")
    func opensNothing() throws {
        try write("alice:\(Self.hash)\n")
        #expect(try problems("listen: [0.0.0.0:3180]").first?.contains("other machines can reach") == true)
        #expect(try problems("{listen: [0.0.0.0:3180], clients: {passwords: passwords}}") == [])
        #expect(try problems("{listen: [0.0.0.0:3180], clients: {allow: [10.0.0.0/8]}}") == [])
        #expect(try problems("{listen: [0.0.0.0:3180], clients: {passwords: off}}").count == 1)
        for word in ["remote", "all"] {
            #expect(
                try problems("clients: {authenticate: \(word)}") == [
                    "larder.yaml:1:25: clients.authenticate: clients cannot authenticate: clients.passwords names no file, and no listener asks for certificates"
                ])
            #expect(try problems("clients: {authenticate: \(word), passwords: passwords}") == [])
        }
        #expect(
            try problems("clients: {authenticate: everybody}").first?.contains("expected one of unlisted, remote, all") == true)
    }

    @Test("Problems in the file are reported with file and line, and only the owner may access the file")
    func saysWhatIsWrong() throws {
        #expect(
            try problems("clients: {passwords: passwords}") == [
                "larder.yaml:1:22: clients.passwords: cannot read \(folder.path)/passwords: No such file or directory"
            ])
        try write("alice:\(Self.hash)\nbob:geheim\n")
        #expect(
            try problems("clients: {passwords: passwords}") == [
                "\(folder.path)/passwords:2:1: expected a bcrypt hash (`$2y$`, `$2b$` or `$2a$`), as `htpasswd -B` writes it"
            ])
        try write("alice:\(Self.hash)\n", mode: 0o640)
        #expect(
            try problems("clients: {passwords: passwords}").first?.contains(
                "other users can access the file; restrict it with `chmod 600`") == true)
    }

    @Test("A running Larder uses the file, and its new content after a reload; an invalid file changes nothing")
    func serves() throws {
        try write("alice:\(Self.hash)\n")
        let larder = try ServeTests.Served("clients: {passwords: passwords, authenticate: all}", in: folder)
        let port = UInt16(try #require(try larder.ports().first))
        func status(_ credentials: String) throws -> Int {
            let client = try RawClient(port: port, owner: larder)
            let fields = credentials.isEmpty ? "" : "Proxy-Authorization: Basic \(Base64.encode(Array(credentials.utf8)))\r\n"
            client.send("OPTIONS * HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
            return try client.readResponse(to: "OPTIONS").status
        }
        #expect(try ["", "alice:open sesame", "alice:open"].map(status) == [407, 200, 407])
        try write("bob:\(Self.hash)\n")
        larder.signal(SIGHUP)
        #expect(larder.says("the settings were reloaded"))
        #expect(try ["", "alice:open sesame", "bob:open sesame"].map(status) == [407, 407, 200])
        try write("bob\n")
        larder.signal(SIGHUP)
        #expect(larder.says("the active settings are unchanged"))
        #expect(larder.said.contains("passwords:1:1: expected `name:hash`"))
        #expect(try ["", "bob:open sesame"].map(status) == [407, 200])
    }

    @Test("curl is admitted with --proxy-user, for http and through a tunnel, and not without it", .enabled(if: curl != nil))
    func curlComesIn() throws {
        try write("alice:\(Self.hash)\n")
        let authority = TestAuthority()
        _ = try folder.write(CertificateText.pem(authority.der), to: "root.pem")
        let secure = ScriptedOrigin(identity: authority.identity()) { connection in
            while connection.readHead() != nil { connection.respond(body: "tunnelled") }
        }
        let plain = ScriptedOrigin { connection in
            while connection.readHead() != nil { connection.respond(body: "plain") }
        }
        defer {
            secure.stop()
            plain.stop()
        }
        let larder = try ServeTests.Served(
            "{tunnel: {ports: any}, clients: {passwords: passwords, authenticate: all}}", in: folder)
        let proxy = "http://127.0.0.1:\(try #require(try larder.ports().first))"
        for (url, expected) in [("http://127.0.0.1:\(plain.port)/", "plain"), ("https://127.0.0.1:\(secure.port)/", "tunnelled")]
        {
            let common = ["-sS", "-m", "20", "-x", proxy, "--cacert", "\(folder.path)/root.pem", url]
            for way in [["--proxy-basic"], ["--proxy-anyauth"]] {
                #expect(try Self.run(way + ["--proxy-user", "alice:open sesame"] + common) == expected, "\(way)")
            }
            #expect(try Self.run(["--proxy-user", "alice:wrong"] + common).contains("407") || url.hasPrefix("http:"))
            #expect(try Self.run(["-w", " %{http_code} %{http_connect}"] + common).contains("407"))
        }
        #expect(plain.requestHeads.count == 2 && secure.requestHeads.count == 2)
        #expect(!(plain.requestHeads + secure.requestHeads).contains { $0.contains("Proxy-Auth") })
    }

    static func run(_ arguments: [String]) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = curl
        process.arguments = arguments
        process.environment = [:]
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text
    }

    static let curl = ["/usr/bin/curl", "/usr/local/bin/curl"].map { URL(filePath: $0) }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }
}
