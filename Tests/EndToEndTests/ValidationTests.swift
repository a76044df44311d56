import Testing
import TestSupport

@Suite("Validation of stored responses, over real sockets (RFC 9111 §4.3)")
struct ValidationTests {
    /// The first response is stale on arrival; `answer` responds to all later requests.
    private func stage(
        joined: Gate, asked: Gate, answer: @escaping @Sendable (OriginRequest, borrowing OriginConnection) -> Bool
    ) throws -> Stage {
        let count = Counter()
        return try Stage { request, connection in
            if count.next() == 1 {
                return connection.respond(
                    fields: "ETag: \"v1\"\r\nDate: Mon, 06 Jul 2020 10:00:00 GMT\r\nCache-Control: max-age=60\r\n", body: "old")
            }
            asked.open()
            joined.wait()
            return answer(request, connection)
        }
    }

    /// Several clients send the same request. The origin answers the first one after the proxy has read all of them.
    private func askTogether(_ stage: Stage, joined: Gate, asked: Gate) throws -> [ReceivedResponse] {
        _ = try stage.fetch("/v")
        let clients = try (0..<5).map { _ in try stage.client() }
        clients[0].send(stage.head("GET", "/v"))
        asked.wait()
        for client in clients.dropFirst() { client.send(stage.head("GET", "/v")) }
        // A completed exchange on the same loop shows that the requests before it were read.
        for _ in 0..<4 { _ = try stage.fetch("/x", method: "OPTIONS", fields: "Max-Forwards: 0\r\n") }
        joined.open()
        return try clients.map { try $0.readResponse() }
    }

    @Test("Requests that waited for a validation get the response that its 304 freshened, and the origin gets one request")
    func sharesFreshened() throws {
        let (joined, asked) = (Gate(), Gate())
        let stage = try stage(joined: joined, asked: asked) { _, connection in
            connection.send("HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\nCache-Control: max-age=60\r\n\r\n")
        }
        for response in try askTogether(stage, joined: joined, asked: asked) {
            #expect(response.status == 200 && response.text == "old")
        }
        #expect(stage.requestCount() == 2)
    }

    @Test("After a 304 for another representation all waiting requests share the new fetch, and the connection is reused")
    func fetchesAgain() throws {
        let (joined, asked) = (Gate(), Gate())
        let stage = try stage(joined: joined, asked: asked) { request, connection in
            if request["If-None-Match"] != nil {
                return connection.send("HTTP/1.1 304 Not Modified\r\nETag: \"other\"\r\n\r\n")
            }
            return connection.respond(fields: "ETag: \"v2\"\r\nCache-Control: max-age=60\r\n", body: "new")
        }
        for response in try askTogether(stage, joined: joined, asked: asked) {
            #expect(response.status == 200 && response.text == "new")
        }
        #expect(stage.requestCount() == 3)
        #expect(stage.origin.connectionCount <= 2)
    }

    @Test("If the origin fails after such a 304, a must-revalidate response is not served (RFC 9111 §5.2.2.2)")
    func failsAgain() throws {
        let stage = try Stage { request, connection in
            if request["X-Second"] == nil {
                return connection.respond(
                    fields: "ETag: \"v1\"\r\nAge: 90\r\nCache-Control: max-age=60, must-revalidate\r\n", body: "old")
            }
            guard request["If-None-Match"] != nil else { return false }
            return connection.send("HTTP/1.1 304 Not Modified\r\nETag: \"other\"\r\n\r\n")
        }
        _ = try stage.fetch("/v")
        let response = try stage.fetch("/v", fields: "X-Second: 1\r\n")
        #expect(response.status == 504 && response.code == "connection_terminated")
    }

    @Test("If the client leaves during the fetch after such a 304, the fetch ends")
    func leavesAfterwards() throws {
        let (joined, asked, again, letGo) = (Gate(), Gate(), Gate(), Gate())
        let stage = try stage(joined: joined, asked: asked) { request, connection in
            if request["If-None-Match"] != nil {
                return connection.send("HTTP/1.1 304 Not Modified\r\nETag: \"other\"\r\n\r\n")
            }
            again.open()
            if connection.isLetGo() { letGo.open() }
            return false
        }
        _ = try stage.fetch("/v")
        joined.open()
        let client = try stage.client()
        client.send(stage.head("GET", "/v"))
        #expect(again.wait())
        client.reset()
        #expect(letGo.wait())
    }
}
