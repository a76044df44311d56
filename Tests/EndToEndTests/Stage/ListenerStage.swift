import ProxyServer
import ServerTrust
import TestSupport
import Testing

/// A proxy with a TLS listener, and an origin without TLS.
final class ListenerStage {
    let authority = TestAuthority()
    let origin: ScriptedOrigin
    let proxy: TestProxy

    init(
        _ yaml: String = "tunnel: {ports: any}", loops: Int = 1, change: (inout ServerSettings) -> Void = { _ in },
        script: @escaping ScriptedOrigin.Script
    ) throws {
        origin = ScriptedOrigin(script: script)
        let tls = try Self.tls(authority)
        proxy = try TestProxy(
            yaml, loops: loops,
            change: {
                $0.listenerTLS = [tls]
                change(&$0)
            })
    }

    deinit {
        proxy.stop()
        origin.stop()
    }

    static func tls(_ authority: TestAuthority, offersHTTP2: Bool = false) throws -> ListenerTLS {
        let files = authority.serverFiles(names: "IP:127.0.0.1")
        let identity = try ClientIdentity(pem: files.certificate, key: files.key)
        return try ListenerTLS(showing: .identity(identity), offersHTTP2: offersHTTP2)
    }

    /// A client that has finished its TLS handshake.
    static func secure(_ client: RawClient, by authority: TestAuthority, greatestVersion: Int32? = nil) throws -> RawClient {
        var terms = TLSClient.Terms(serverName: nil, anchor: authority.der)
        terms.greatestVersion = greatestVersion
        try #require(client.startTLS(terms) == .done)
        return client
    }

    func client(receiveBuffer: Int32? = nil, greatestVersion: Int32? = nil) throws -> RawClient {
        let client = try RawClient(port: proxy.port, owner: self, receiveBuffer: receiveBuffer)
        return try Self.secure(client, by: authority, greatestVersion: greatestVersion)
    }

    func head(_ method: String = "GET", _ path: String = "/", fields: String = "") -> String {
        "\(method) http://127.0.0.1:\(origin.port)\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\(fields)\r\n"
    }

    /// A client whose CONNECT got a 200.
    func tunnel(receiveBuffer: Int32? = nil) throws -> RawClient {
        let client = try client(receiveBuffer: receiveBuffer)
        client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
        #expect(try client.readResponse(to: "CONNECT").status == 200)
        return client
    }
}
