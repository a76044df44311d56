import Foundation
import TestSupport
import Testing

@Suite("TLS listeners", .enabled(if: PasswordSettingsTests.curl != nil))
struct SecureListenerTests {
    /// A Larder with one TLS listener that uses files, in front of a plain and a secure origin.
    private final class Stage {
        let folder: TemporaryFolder
        let authority = TestAuthority()
        let plain: ScriptedOrigin
        let secure: ScriptedOrigin
        let larder: ServeTests.Served
        let port: Int

        init(
            _ settings: String = "", tls: String = "{certificate: proxy.pem, key: proxy.key}", passwords: String? = nil,
            makesAuthority: Bool = false, descriptors: Int? = nil
        ) throws {
            folder = try TemporaryFolder()
            _ = try folder.write(CertificateText.pem(authority.der), to: "root.pem")
            try Self.write(authority.serverFiles(names: "IP:127.0.0.1"), named: "proxy", in: folder)
            try Self.write(authority.clientFiles(), named: "client", in: folder)
            if let passwords {
                let path = try folder.write(passwords, to: "passwords")
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            }
            if makesAuthority {
                let made = try CommandLineTests.larder(
                    ["ca", "init"], environment: ["HOME": folder.path, "PATH": "/usr/bin:/bin"])
                try #require(made.code == 0, "\(made.talk)")
                let root = try String(contentsOfFile: "\(folder.path)/.local/share/larder/ca/current/root.pem", encoding: .utf8)
                _ = try folder.write(root, to: "ca.pem")
            }
            let answer: ScriptedOrigin.Script = { connection in
                while let head = connection.readHead() {
                    let request = OriginRequest(head: head)
                    guard let body = connection.readBody(of: request) else { return }
                    let size = Int(request.target.dropFirst()) ?? 0
                    connection.respond(body: "got \(body.count) " + String(repeating: "x", count: size))
                }
            }
            plain = ScriptedOrigin(script: answer)
            secure = ScriptedOrigin(identity: authority.identity(), script: answer)
            larder = try ServeTests.Served(
                "tunnel: {ports: any}\nlisten: [{address: '127.0.0.1:0', tls: \(tls)}]\n" + settings, in: folder,
                descriptors: descriptors, listensAsWritten: true)
            port = try #require(try larder.ports().first)
        }

        deinit {
            plain.stop()
            secure.stop()
        }

        static func write(_ files: ClientFiles, named name: String, in folder: TemporaryFolder) throws {
            for (ending, octets) in [("pem", files.certificate), ("key", files.key)] {
                let path = try folder.write(String(decoding: octets, as: UTF8.self), to: "\(name).\(ending)")
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            }
        }

        var origins: [String] { ["http://127.0.0.1:\(plain.port)", "https://127.0.0.1:\(secure.port)"] }

        func curl(_ url: String, _ options: String..., proxyRoot: String = "root.pem", root: String = "root.pem") throws -> String
        {
            try PasswordSettingsTests.run(
                [
                    "-sS", "-m", "30", "-x", "https://127.0.0.1:\(port)", "--proxy-cacert", "\(folder.path)/\(proxyRoot)",
                    "--cacert",
                    "\(folder.path)/\(root)",
                ] + options + [url])
        }

        /// The log's lines, once there are this many.
        func logged(_ count: Int) throws -> [Substring] {
            let growth = try FileGrowth(of: "\(folder.path)/access.log")
            while true {
                let lines = try String(contentsOfFile: "\(folder.path)/access.log", encoding: .utf8).split(separator: "\n")
                if lines.count >= count || !growth.wait() { return lines }
            }
        }

        var certificate: [String] { ["--proxy-cert", "\(folder.path)/client.pem", "--proxy-key", "\(folder.path)/client.key"] }
    }

    @Test("Requests and tunnels pass through a TLS listener, small and large, in both directions")
    func serves() throws {
        let stage = try Stage()
        for origin in stage.origins {
            #expect(try stage.curl("\(origin)/") == "got 0 ")
            #expect(try stage.curl("\(origin)/5000000", "-o", "/dev/null", "-w", "%{size_download}") == "5000006")
            let sent = try stage.folder.write(String(repeating: "y", count: 3_000_000), to: "sent")
            #expect(try stage.curl("\(origin)/", "--data-binary", "@\(sent)").hasPrefix("got 3000000 "))
        }
        // A slow reader gets all of it, although the inner connection ended long before.
        #expect(
            try stage.curl(
                "\(stage.origins[0])/900000", "-H", "Connection: close", "--limit-rate", "300k", "-o", "/dev/null", "-w",
                "%{size_download}")
                == "900006")
    }

    @Test("The listener sends the configured certificate, and accepts only TLS")
    func showsCertificate() throws {
        let stage = try Stage()
        _ = try stage.folder.write(CertificateText.pem(TestAuthority().der), to: "other.pem")
        #expect(!(try stage.curl("\(stage.origins[0])/", proxyRoot: "other.pem")).hasPrefix("got"))
        let client = try RawClient(port: UInt16(stage.port), owner: stage)
        client.send("GET \(stage.origins[0])/ HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.isClosedByPeer())
        #expect(stage.larder.says("failed: not_tls"))
        #expect(stage.plain.requestHeads.isEmpty)
    }

    @Test(
        "Many simultaneous disconnects are handled while others are served; a client that only closed its sending side gets its response"
    )
    func letsManyGo() throws {
        let stage = try Stage()
        let terms = TLSClient.Terms(serverName: nil, anchor: stage.authority.der)
        let leaving = try (0..<60).map { _ in
            let client = try RawClient(port: UInt16(stage.port), owner: stage)
            #expect(client.startTLS(terms) == .done)
            return client
        }
        let host = "127.0.0.1:\(stage.plain.port)"
        for (index, client) in leaving.enumerated() {
            switch index % 4 {
            case 0: client.endTLS()
            case 1: client.reset()
            case 2: client.endSending()
            default:
                client.send("GET http://\(host)/100000 HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                client.endTLS()
                client.endSending()
            }
        }
        #expect(try stage.curl("\(stage.origins[0])/") == "got 0 ")
        for (index, client) in leaving.enumerated() where index % 4 != 1 {
            if index % 4 == 3 { #expect(try client.readResponse().body.count == 100_006) }
            #expect(client.isClosedByPeer())
        }
    }

    @Test("A client that starts no handshake costs only its deadline, and one that disconnects before costs nothing")
    func boundsHandshakes() throws {
        let stage = try Stage("timeouts: {client_handshake: 5s}\n")
        let silent = try RawClient(port: UInt16(stage.port), owner: stage)
        let stuck = try RawClient(port: UInt16(stage.port), owner: stage)
        stuck.send(bytes: [0x16, 0x03, 0x01, 0x00, 0xC8, 0x01])
        let leaving = try RawClient(port: UInt16(stage.port), owner: stage)
        leaving.send(bytes: [0x16, 0x03, 0x01])
        leaving.close()
        #expect(silent.isClosedByPeer() && stuck.isClosedByPeer())
        #expect(try stage.curl("\(stage.origins[0])/") == "got 0 ")
    }

    @Test(
        "If a listener requires certificates, a client without one is rejected, and one with one is named in the log and needs no password"
    )
    func asksForCertificates() throws {
        let hash = "$2y$04$abcdefghijklmnopqrstuu/LVz6MZlItEy42I2juLihZ66HnQx/cy"
        let stage = try Stage(
            "clients: {passwords: passwords, authenticate: all}\n",
            tls: "{certificate: proxy.pem, key: proxy.key, clients: root.pem}", passwords: "alice:\(hash)\n")
        for origin in stage.origins {
            #expect(!(try stage.curl("\(origin)/")).hasPrefix("got"))
            #expect(stage.larder.says("failed: handshake_failed: the client sent no certificate"))
            let arguments = stage.certificate
            #expect(
                try stage.curl("\(origin)/", arguments[0], arguments[1], arguments[2], arguments[3]) == "got 0 ")
        }
        try Stage.write(TestAuthority().clientFiles(), named: "client", in: stage.folder)
        let strange = stage.certificate
        #expect(
            !(try stage.curl("\(stage.origins[0])/", strange[0], strange[1], strange[2], strange[3])).hasPrefix("got"))
        let log = try stage.logged(2)
        #expect(log.count { $0.contains(#""user":"CN=client""#) } == 2, "\(log)")
    }

    @Test(
        "Rules match the subject and the alternative names of a client's certificate, inside tunnels and out",
        arguments: ["CN=client", "CN=other"])
    func matchesCertificates(name: String) throws {
        let stage = try Stage(
            "egress: {default: deny, addresses: {private: allow}}\nrules: [{name: a, match: {certificate: \"\(name)\"}, allow: {}}]\n",
            tls: "{certificate: proxy.pem, key: proxy.key, clients: root.pem}")
        let arguments = stage.certificate
        let plain = try stage.curl("\(stage.origins[0])/", arguments[0], arguments[1], arguments[2], arguments[3])
        #expect(name == "CN=client" ? plain == "got 0 " : plain.contains("egress_denied"), "\(plain)")
        let port = try #require(stage.origins[1].split(separator: ":").last)
        // The ClientHello in the tunnel names the host.
        let secure = try stage.curl(
            "https://localhost:\(port)/", arguments[0], arguments[1], arguments[2], arguments[3], "-k")
        #expect(name == "CN=client" ? secure == "got 0 " : secure.contains("403"), "\(secure)")
        #expect(stage.secure.connectionCount == (name == "CN=client" ? 1 : 0))
    }

    @Test("Passwords are requested inside TLS, and the tunnel belongs to the client that authenticated")
    func asksForPasswords() throws {
        let hash = "$2y$04$abcdefghijklmnopqrstuu/LVz6MZlItEy42I2juLihZ66HnQx/cy"
        let stage = try Stage("clients: {passwords: passwords, authenticate: all}\n", passwords: "alice:\(hash)\n")
        for origin in stage.origins {
            #expect(try stage.curl("\(origin)/", "-w", " %{http_code} %{http_connect}").contains("407"))
            #expect(try stage.curl("\(origin)/", "--proxy-user", "alice:open sesame") == "got 0 ")
        }
    }

    @Test("With the local CA, a listener has a certificate for its address, and intercepts hosts in TLS inside TLS")
    func intercepts() throws {
        let stage = try Stage(
            "tls: {authority: {folder: .local/share/larder/ca}, default: {anchors: {bundle: root.pem}, connect: intercept}}\n",
            tls: "authority", makesAuthority: true)
        for origin in stage.origins {
            #expect(
                try stage.curl(
                    "\(origin)/100000", "-o", "/dev/null", "-w", "%{size_download}", proxyRoot: "ca.pem", root: "ca.pem")
                    == "100006")
            let sent = try stage.folder.write(String(repeating: "y", count: 3_000_000), to: "sent")
            #expect(
                try stage.curl("\(origin)/", "--data-binary", "@\(sent)", proxyRoot: "ca.pem", root: "ca.pem")
                    .hasPrefix("got 3000000 "))
            // Records inside records, for a slow client.
            #expect(
                try stage.curl(
                    "\(origin)/900000", "-H", "Connection: close", "--limit-rate", "300k", "-o", "/dev/null", "-w",
                    "%{size_download}", proxyRoot: "ca.pem", root: "ca.pem") == "900006")
        }
        let log = try stage.logged(9)
        #expect(log.contains { $0.contains(#""connect":"intercept""#) }, "\(log)")
    }

    @Test("Clients with TLS cannot use the descriptors reserved for origins")
    func leavesRoom() throws {
        let stage = try Stage(descriptors: 160)
        func connect() throws -> RawClient? {
            let client = try RawClient(port: UInt16(stage.port), owner: stage)
            let terms = TLSClient.Terms(serverName: nil, anchor: stage.authority.der)
            return client.startTLS(terms) == .done ? client : nil
        }
        let first = try #require(try connect())
        let others = (0..<120).compactMap { _ in try? connect() }
        // Each uses one of the 56 descriptors that are left for clients.
        #expect(others.count > 10 && others.count < 56, "\(others.count)")
        let origin = "127.0.0.1:\(stage.plain.port)"
        first.send("GET http://\(origin)/ HTTP/1.1\r\nHost: \(origin)\r\n\r\n")
        #expect(try first.readResponse().text == "got 0 ")
    }

    @Test("A certificate that TLS cannot use is reported when the settings are read")
    func tellsOfWeakKeys() throws {
        let folder = try TemporaryFolder()
        let made = try CommandLineTests.shell(
            """
            umask 077; cd "$folder" && openssl req -x509 -newkey rsa:1024 -nodes -days 1 -subj /CN=a -keyout weak.key -out weak.pem
            """, ["folder": folder.path])
        try #require(made.code == 0, "\(made.talk)")
        let settings = try folder.write(
            "listen: [{address: '127.0.0.1:0', tls: {certificate: weak.pem, key: weak.key}}]\n", to: "larder.yaml")
        let checked = try CommandLineTests.larder(["config", "check", "-c", settings])
        #expect(checked.code == 2 && checked.talk.contains("TLS cannot use weak.pem"), "\(checked.talk)")
    }

    @Test("A reload applies new certificates to new connections, and keeps the active ones if the files are invalid")
    func reloads() throws {
        let stage = try Stage()
        let others = TestAuthority()
        try Stage.write(others.serverFiles(names: "IP:127.0.0.1"), named: "proxy", in: stage.folder)
        _ = try stage.folder.write(CertificateText.pem(others.der), to: "other.pem")
        #expect(try stage.curl("\(stage.origins[0])/") == "got 0 ")
        stage.larder.signal(SIGHUP)
        #expect(stage.larder.says("the settings were reloaded"))
        #expect(try stage.curl("\(stage.origins[0])/", proxyRoot: "other.pem") == "got 0 ")
        #expect(!(try stage.curl("\(stage.origins[0])/")).hasPrefix("got"))
        // A changed entry needs a restart: the active TLS stays, and former settings do not return.
        let settings = try String(contentsOfFile: stage.larder.settings, encoding: .utf8)
        _ = try stage.folder.write(
            settings.replacing("certificate: proxy.pem", with: "certificate: ./proxy.pem"), to: "larder.yaml")
        stage.larder.signal(SIGHUP)
        #expect(stage.larder.says("listen has changed; the change takes effect at the next start"))
        #expect(try stage.curl("\(stage.origins[0])/", proxyRoot: "other.pem") == "got 0 ")
        #expect(!(try stage.curl("\(stage.origins[0])/")).hasPrefix("got"))
        _ = try stage.folder.write(settings, to: "larder.yaml")
        _ = try stage.folder.write("nothing", to: "proxy.pem")
        stage.larder.signal(SIGHUP)
        #expect(stage.larder.says("the active settings are unchanged"))
        #expect(stage.larder.said.contains("contains no certificate, or a certificate that cannot be read"))
        #expect(try stage.curl("\(stage.origins[0])/", proxyRoot: "other.pem") == "got 0 ")
    }
}
