import Testing
import TestSupport

@Suite("Clients that leave while the origin is silent")
struct VanishedClientTests {
    @Test(
        "A reset ends the exchange at once, whatever the client sent after its request",
        arguments: ["", "GET http://127.0.0.1/next HTTP/1.1\r\nHost: a\r\n\r\n", "half a he"], [1, 4])
    func reset(behind: String, loops: Int) throws {
        let asked = Gate()
        let letGo = Gate()
        let stage = try Stage(loops: loops) { _, connection in
            asked.open()
            if connection.isLetGo() { letGo.open() }
            return false
        }
        let client = try stage.client()
        client.send(stage.head("GET", "/silent") + behind)
        #expect(asked.wait())
        client.reset()
        #expect(letGo.wait())
        #expect(try stage.proxy.logLines().count { $0.contains("\"status\":0") } == 1)
    }

    @Test("A reset ends the exchange after the client has ended its own side too")
    func resetAfterHalfClose() throws {
        let asked = Gate()
        let letGo = Gate()
        let stage = try Stage { request, connection in
            if request.target == "/other" { return connection.respond(body: "other") }
            asked.open()
            if connection.isLetGo() { letGo.open() }
            return false
        }
        let client = try stage.client()
        client.send(stage.head("GET", "/silent"))
        #expect(asked.wait())
        client.endSending()
        #expect(try stage.fetch("/other").text == "other")
        client.reset()
        #expect(letGo.wait())
    }
}
