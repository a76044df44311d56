import CLinux
import EventLoop
import Foundation
import ProxyCore
import TestSupport

/// A proxy in a network of its own, and an origin in another one at the end of a link: 10.9.0.1 on `v0` here, 10.9.0.2 there.
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
        // The link's two ends find each other some time after they are up.
        let deadline = ContinuousClock.now + .seconds(10)
        while proxy.server.networkStatus?.hasPrefix("online") != true {
            guard ContinuousClock.now < deadline else {
                throw NeverSettled(status: proxy.server.networkStatus ?? "nobody listens")
            }
            usleep(1000)
        }
        try settle(.live)
    }

    deinit {
        proxy.stop()
        origin.stop()
    }

    /// Returns once every loop answers by this mode.
    func settle(_ mode: ExchangeContext.Mode) throws {
        let deadline = ContinuousClock.now + .seconds(10)
        while proxy.server.mode != mode {
            guard ContinuousClock.now < deadline else {
                throw NeverSettled(status: proxy.server.networkStatus ?? "nobody listens")
            }
            usleep(1000)
        }
        proxy.settle()
    }

    struct NeverSettled: Error {
        let status: String
    }

    /// One exchange on a connection of its own.
    func fetch(_ path: String, host: String = "10.9.0.2", fields: String = "") throws -> ReceivedResponse {
        let port = proxy.port
        let client = try here.inside { try RawClient(port: port) }
        client.send("GET http://\(host):\(origin.port)\(path) HTTP/1.1\r\nHost: \(host):\(origin.port)\r\n\(fields)\r\n")
        return try client.readResponse()
    }

    /// The same several times over, with the time that it took in the middle of them: others keep the machine busy meanwhile.
    func timed(_ path: String, host: String = "10.9.0.2") throws -> (response: ReceivedResponse, time: Duration) {
        let port = proxy.port
        let client = try here.inside { try RawClient(port: port) }
        var times: [Duration] = []
        var last: ReceivedResponse?
        for _ in 0..<9 {
            let began = ContinuousClock.now
            client.send("GET http://\(host):\(origin.port)\(path) HTTP/1.1\r\nHost: \(host):\(origin.port)\r\n\r\n")
            last = try client.readResponse()
            times.append(ContinuousClock.now - began)
        }
        guard let last else { throw NeverSettled(status: "nothing was asked") }
        return (last, times.sorted()[4])
    }
}
