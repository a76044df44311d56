import Testing
import TestSupport

@Suite("T36 Clients that end their side while they wait")
struct HalfClosedClientTests {
    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"

    @Test("Such a client is served when its answer comes in time, the requests behind the first one too", arguments: [1, 4])
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

    @Test("One whose answer does not come counts as gone at its deadline, and the origin is let go", arguments: [false, true])
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

    @Test("An event stream goes on while events come, and is let go when none has come for so long")
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

    @Test("Whoever has joined the fetch of one that is gone has the answer")
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
        // An exchange that ends says that what came to the loop before it has been read.
        _ = try stage.fetch("/other")
        leader.endSending()
        #expect(leader.isClosedByPeer())
        left.open()
        #expect(try stayer.readResponse().text == "shared")
    }
}
