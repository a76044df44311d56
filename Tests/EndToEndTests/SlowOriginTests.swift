import EventLoop
import Glibc
import ProxyServer
import TestSupport
import Testing

@Suite("Slow origins")
struct SlowOriginTests {
    /// The turns of all loops so far.
    private static func turns(of proxy: TestProxy) throws -> UInt64 {
        let loop = try EventLoop()
        var turns: UInt64?
        proxy.server.statistics(loop.reply { (statistics: LoopStatistics) in turns = statistics.turns })
        while turns == nil { loop.turn(waitingAtMost: -1) }
        return turns ?? 0
    }

    @Test("The loop sleeps while the rest of a body to be stored has not arrived", arguments: [":memory:", nil])
    func sleepsMeanwhile(storePath: String?) throws {
        let stage = try Stage(storePath: storePath) { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 300000\r\n\r\n")
            connection.send(bytes: [UInt8](repeating: 1, count: 200_000))
            // The rest never arrives. The origin waits until the proxy closes the connection.
            _ = connection.readHead()
            return false
        }
        let client = try stage.client()
        client.send(stage.head("GET", "/slow"))
        while try client.readLine() != "" {}
        #expect(try client.read(count: 200_000).count == 200_000)
        let before = try Self.turns(of: stage.proxy)
        #expect(!client.hasInput(withinMilliseconds: 300))
        #expect(try Self.turns(of: stage.proxy) - before < 50)
    }
}
