import Testing
import TestSupport

@Suite("T36 Clients that close their sending side while they wait")
struct HalfClosedClientTests {
    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"

    @Test(
        "A half-closed client gets the responses that arrive in time, including those to pipelined requests", arguments: [1, 4])
    func served(loops: Int) throws {
        let asked = Gate()
        let ended = Gate()
        let stage = try Stage(loops: loops) { request, connection in
            if request.target == "/first" {
                asked.open()
                ended.wait()
            }
            return connection.respond(body: request.target)
        }
        let client = try stage.client()
        client.send(stage.head("GET", "/first"))
        #expect(asked.wait())
        client.send(stage.head("GET", "/second"))
        client.endSending()
        ended.open()
        #expect(try client.readResponse().text == "/first")
        #expect(try client.readResponse().text == "/second")
        #expect(client.isClosedByPeer())
    }

    @Test(
        "At its deadline a half-closed client without a response is disconnected, and the origin's connection is closed",
        arguments: [false, true])
    func isGone(isPipelined: Bool) throws {
        let letGo = Gate()
        let stage = try Stage(change: { $0.timeouts.halfClosed = 2_000 }) { _, connection in
            if connection.isLetGo() { letGo.open() }
            return false
        }
        let client = try stage.client()
        client.send(stage.head("GET", "/silent"))
        if isPipelined { client.send(stage.head("GET", "/next")) }
        client.endSending()
        #expect(letGo.wait())
        #expect(client.isClosedByPeer())
    }

    @Test("An event stream continues while events arrive, and is ended when none arrives until the deadline")
    func eventStream() throws {
        let ended = Gate()
        let letGo = Gate()
        let stage = try Stage(change: { $0.timeouts.halfClosed = 3_000 }) { _, connection in
            connection.send(Self.chunked + "Content-Type: text/event-stream\r\n\r\n6\r\ndata:1\r\n")
            ended.wait()
            for number in 0..<4 {
                connection.send("6\r\ndata:\(number)\r\n")
            }
            if connection.isLetGo() { letGo.open() }
            return false
        }
        let client = try stage.client()
        client.send(stage.head("GET", "/events"))
        #expect(try client.readHead().status == 200)
        client.endSending()
        ended.open()
        #expect(letGo.wait())
        let events = try? client.readToEnd()  // the end may be a reset
        #expect(String(decoding: events ?? client.takeHeld(), as: UTF8.self).contains("data:3"))
    }

    @Test("If a half-closed client is disconnected, another client that joined its fetch gets the response")
    func joined() throws {
        let asked = Gate()
        let left = Gate()
        let stage = try Stage(change: { $0.timeouts.halfClosed = 100 }) { request, connection in
            guard request.target == "/joined" else { return connection.respond() }
            asked.open()
            left.wait()
            return connection.respond(fields: "Cache-Control: max-age=60\r\n", body: "shared")
        }
        let leader = try stage.client()
        leader.send(stage.head("GET", "/joined"))
        #expect(asked.wait())
        let stayer = try stage.client()
        stayer.send(stage.head("GET", "/joined"))
        // A completed exchange shows that the loop has read everything before it.
        _ = try stage.fetch("/other")
        leader.endSending()
        #expect(leader.isClosedByPeer())
        left.open()
        #expect(try stayer.readResponse().text == "shared")
    }
}
