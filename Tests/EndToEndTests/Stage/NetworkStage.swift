import CLarderLinux
import EventLoop
import Foundation
import ProxyCore
import TestSupport

/// A proxy and an origin in two network namespaces with a link between them: 10.9.0.1 on `v0` here, 10.9.0.2 at the origin.
final class NetworkStage {
    let here: NetworkNamespace
    let there: NetworkNamespace
    let proxy: TestProxy
    let origin: ScriptedOrigin

    init(_ yaml: String, loops: Int = 1, answer: @escaping @Sendable (OriginRequest, borrowing OriginConnection) -> Bool) throws {
        let here = try NetworkNamespace()
        let there = try NetworkNamespace()
        try here.connect("v0", to: there, "v1")
        try there.ip("link set lo up", "addr add 10.9.0.2/24 dev v1", "link set v1 up")
        try here.ip("link set lo up", "addr add 10.9.0.1/24 dev v0", "link set v0 up", "route add default via 10.9.0.2")
        self.here = here
        self.there = there
        origin = try there.inside { ScriptedOrigin.answering(isReachable: true, answer) }
        proxy = try here.inside { try TestProxy(yaml, loops: loops) }
        // The two ends of the link find each other only some time after they are up.
        try eventually { proxy.server.networkStatus?.hasPrefix("online") == true }
        try settle(.live)
    }

    deinit {
        proxy.stop()
        origin.stop()
    }

    /// Returns when every loop answers in this mode.
    func settle(_ mode: ExchangeContext.Mode) throws {
        try eventually { proxy.server.mode == mode }
        proxy.settle()
    }

    /// Sends one request on a connection of its own and returns the response.
    func fetch(_ path: String, host: String = "10.9.0.2", fields: String = "") throws -> ReceivedResponse {
        let port = proxy.port
        let client = try here.inside { try RawClient(port: port) }
        client.send("GET http://\(host):\(origin.port)\(path) HTTP/1.1\r\nHost: \(host):\(origin.port)\r\n\(fields)\r\n")
        return try client.readResponse()
    }
}
