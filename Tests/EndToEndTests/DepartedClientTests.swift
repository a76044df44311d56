import Testing
import TestSupport

@Suite("Clients that leave a fetch that others have joined")
struct DepartedClientTests {
    private static let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n"

    private static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [13, 10]
    }

    /// Completed exchanges show that the loop has read everything before them.
    private func settle(_ stage: Stage) throws {
        for _ in 0..<3 { _ = try stage.fetch("/settled", method: "OPTIONS", fields: "Max-Forwards: 0\r\n") }
    }

    @Test(
        "A client that stays gets the complete body, and the next requests get their own responses",
        arguments: [1_000, 10_000, 100_000])
    func nextRequestsHaveTheirOwn(length: Int) throws {
        let body = PatternedBody(length: length)
        let left = Gate()
        let stage = try Stage { request, connection in
            if request.target != "/big" { return connection.respond(fields: "Cache-Control: max-age=60\r\n", body: "other") }
            connection.send(Self.head)
            connection.send(bytes: Self.chunk(body.bytes(0..<500)))
            left.wait()
            // In pieces, so that the body becomes large only after its beginning.
            for start in stride(from: 500, to: length, by: 7_000) {
                connection.send(bytes: Self.chunk(body.bytes(start..<min(start + 7_000, length))))
            }
            return connection.send("0\r\n\r\n")
        }
        #expect(try stage.fetch("/other").text == "other")
        let leader = try stage.client()
        leader.send(stage.head("GET", "/big"))
        #expect(try leader.readHead().status == 200)
        let stayer = try stage.client()
        stayer.send(stage.head("GET", "/big"))
        try settle(stage)
        leader.reset()
        try settle(stage)
        left.open()
        let response = try stayer.readResponse()
        #expect(response.body.count == length)
        #expect(response.body.withUnsafeBytes { body.matches($0, at: 0) })
        #expect(stage.requestCount("/big") == 1)
        // Each incomplete head holds the objects that serve it, so that all reused objects are in use.
        let next = try (0..<4).map { _ in try stage.client() }
        for client in next { client.send("GET ") }
        try settle(stage)
        for client in next { client.send("\(stage.url("/other")) HTTP/1.1\r\nHost: a\r\n\r\n") }
        for client in next { #expect(try client.readResponse().text == "other") }
    }

    enum Departure: CaseIterable { case waiterFirst, leaderFirst }

    @Test("When all clients have left, in any order, the origin's connection is closed", arguments: Departure.allCases)
    func allLeave(_ departure: Departure) throws {
        let more = Gate()
        let letGo = Gate()
        let stage = try Stage { _, connection in
            connection.send(Self.head)
            connection.send(bytes: Self.chunk(Array("some".utf8)))
            more.wait()
            if departure == .leaderFirst { connection.send(bytes: Self.chunk(Array("more".utf8))) }
            if connection.isLetGo() { letGo.open() }
            return false
        }
        let leader = try stage.client()
        leader.send(stage.head("GET", "/endless"))
        #expect(try leader.readHead().status == 200)
        let waiter = try stage.client()
        waiter.send(stage.head("GET", "/endless"))
        try settle(stage)
        for client in departure == .waiterFirst ? [waiter, leader] : [leader, waiter] {
            client.reset()
            try settle(stage)
        }
        more.open()
        #expect(letGo.wait())
    }

    @Test("A body that becomes too long to be stored is not read further for a client that has left")
    func tooLongForNobody() throws {
        let asked = Counter()
        let more = Gate()
        let letGo = Gate()
        let stage = try Stage("rules: [{name: small, cache: {max_size: 1000B}}]") { _, connection in
            if asked.next() > 1 { return connection.respond(fields: "Cache-Control: max-age=60\r\n", body: "own") }
            connection.send(Self.head)
            connection.send(bytes: Self.chunk(Array("some".utf8)))
            more.wait()
            connection.send(bytes: Self.chunk([UInt8](repeating: 0x61, count: 20_000)))
            if connection.isLetGo() { letGo.open() }
            return false
        }
        let leader = try stage.client()
        leader.send(stage.head("GET", "/long"))
        #expect(try leader.readHead().status == 200)
        let stayer = try stage.client()
        stayer.send(stage.head("GET", "/long"))
        try settle(stage)
        leader.reset()
        try settle(stage)
        more.open()
        #expect(try stayer.readResponse().text == "own")
        #expect(letGo.wait())
    }
}
