import CertificateAuthority
import Foundation
import HTTP2Wire
import ProxyServer
import ServerTrust
import TestSupport
import Testing

/// A proxy, and clients that send any frames. Its origin is `https://a.example`, which is behind an upstream proxy, so that the origin
/// needs no port of its own.
final class ConformanceStage {
    /// How clients reach HTTP/2.
    enum Way: String, CaseIterable, Sendable { case plainListener, secureListener, interceptedTunnel }

    let way: Way
    let proxy: TestProxy
    /// The upstream proxy and the origin.
    let upstream: ScriptedOrigin
    private let authority = TestAuthority()
    private let ours: LocalAuthority
    private let completed = Counter()
    private let isStopped = Gate()

    /// - Parameter connectionCount: the limit of connections to one origin; `nil` for the default.
    init(_ way: Way, connectionCount: Int? = nil) throws {
        self.way = way
        let identity = authority.identity(names: "DNS:a.example,DNS:b.example")
        upstream = ScriptedOrigin { [completed, isStopped] connection in
            guard connection.readHead()?.hasPrefix("CONNECT ") == true else { return }
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            connection.speakTLS(as: identity) { Self.serve($0, completed, until: isStopped) }
        }
        ours = try LocalAuthority(
            making: RootTerms(user: "tester", host: "here", days: 30), at: POSIXTime(seconds: Int64(Date().timeIntervalSince1970))
        )
        let trust = try SecureStage.trust(authority)
        let listener = way == .secureListener ? try ListenerStage.tls(authority, offersHTTP2: true) : nil
        let intercepting = way == .interceptedTunnel ? ours : nil
        // Requests wait for these connections as long as the test lasts, also on a busy machine.
        let budget = connectionCount.map { ", connections_per_origin: \($0), queue_wait: 10m" } ?? ""
        proxy = try TestProxy(
            """
            upstream: {proxy: 'http://127.0.0.1:\(upstream.port)'\(budget)}
            tunnel: {ports: any}
            limits: {http2: {stream_window: \(Self.streamWindow)}}
            """,
            change: {
                $0.offersHTTP2 = true
                $0.transport.trust = trust
                if let listener { $0.listenerTLS = [listener] }
                guard let intercepting else { return }
                $0.authority = intercepting
                $0.transport.connect = InterceptingStage.policy { $0.interceptsHTTP2 = true }
            })
    }

    /// The window of each stream, in bytes: the one that the cases expect.
    static let streamWindow = HTTP2Limits().streamWindow

    deinit { stop() }

    /// Stops the proxy, and waits until the origin has read all that the proxy sent.
    func stop() {
        proxy.stop()
        isStopped.open()
        try? eventually { upstream.openCount == 0 }
        upstream.stop()
    }

    private static func serve(_ connection: borrowing OriginConnection, _ completed: Counter, until isStopped: Gate) {
        while let head = connection.readHead() {
            let request = OriginRequest(head: head)
            if request.target == stuckPath {
                isStopped.wait()
                return
            }
            guard connection.readBody(of: request) != nil else { return }
            if !isSound(head) { completed.next() }
            connection.respond(body: "answer to \(request.target)")
        }
    }

    /// The path of requests that are well-formed.
    static let soundPath = "/sound"

    /// The path of requests whose content the origin does not read.
    static let stuckPath = "/stuck"

    private static func isSound(_ head: String) -> Bool {
        head.hasPrefix("GET \(soundPath) ") || head.hasPrefix("CONNECT ")
    }

    /// The heads of requests that the origin got, besides the sound ones.
    var forwardedCount: Int { upstream.requestHeads.count { !Self.isSound($0) } }

    /// How many of these requests the origin got as a whole.
    var completedCount: Int { completed.value }

    // MARK: Clients

    private func connection(offering protocols: [String]) throws -> RawClient {
        let client = try RawClient(port: proxy.port, owner: self)
        var terms = TLSClient.Terms(serverName: nil, anchor: authority.der)
        switch way {
        case .plainListener: return client
        case .secureListener: break
        case .interceptedTunnel:
            client.send("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n")
            try #require(client.readResponse(to: "CONNECT").status == 200)
            terms = TLSClient.Terms(serverName: "a.example", anchor: ours.root.der)
        }
        terms.protocols = protocols
        try #require(client.startTLS(terms) == .done)
        return client
    }

    /// A connection in HTTP/2 on which nothing was sent.
    func frameClient() throws -> FrameClient {
        let client = try connection(offering: ["h2"])
        if way != .plainListener { try #require(client.agreed?.protocolName == "h2") }
        return FrameClient(client)
    }

    /// A connection in HTTP/1.1.
    func client() throws -> RawClient { try connection(offering: []) }

    /// Whether a client in HTTP/1.1 is served.
    /// - Parameter host: `b.example` is another origin.
    func serves(_ client: RawClient, from host: String = "a.example") throws -> Bool {
        let target = way == .interceptedTunnel ? Self.soundPath : "https://\(host)\(Self.soundPath)"
        client.send("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        return try client.readResponse().text == "answer to \(Self.soundPath)"
    }
}
