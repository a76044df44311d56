import Testing
import TestSupport

@Suite("A write that invalidates a key while it is being fetched (RFC 9111 §4.4)")
struct OvertakenFetchTests {
    /// The progress of the response when the write is answered, and its framing.
    enum Progress: CaseIterable { case beforeHead, inBody, inChunks }

    private static let fresh = "Cache-Control: max-age=60\r\n"

    /// An origin whose first response to a GET is the content before the POST, with `length` bytes, and arrives late.
    private func stage(_ progress: Progress, length: Int, asked: Gate, release: Gate) throws -> Stage {
        let count = Counter()
        return try Stage { request, connection in
            if request.method == "POST" { return connection.respond("204 No Content") }
            guard count.next() == 1 else { return connection.respond(fields: Self.fresh, body: "new") }
            let old = String(repeating: "o", count: length)
            let framing =
                progress == .inChunks
                ? "Transfer-Encoding: chunked\r\n\r\n\(String(length, radix: 16))\r\n" : "Content-Length: \(length)\r\n\r\n"
            if progress != .beforeHead { connection.send("HTTP/1.1 200 OK\r\n\(Self.fresh)\(framing)" + old.dropLast()) }
            asked.open()
            release.wait()
            if progress == .beforeHead { return connection.respond(fields: Self.fresh, body: old) }
            return connection.send(progress == .inChunks ? "o\r\n0\r\n\r\n" : "o")
        }
    }

    @Test(
        "The response of the fetch goes to requests from before the write, and is not stored", arguments: Progress.allCases,
        [("", 100), ("", 100_000), ("Cache-Control: no-cache\r\n", 100)])
    func isNotStored(progress: Progress, row: (fields: String, length: Int)) throws {
        let asked = Gate()
        let release = Gate()
        let stage = try stage(progress, length: row.length, asked: asked, release: release)
        let clients = try (0..<2).map { _ in try stage.client() }
        clients[0].send(stage.head("GET", "/x", fields: row.fields))
        #expect(asked.wait())
        // A request with no-cache shares its fetch with no other.
        let isJoined = row.fields.isEmpty
        if isJoined { clients[1].send(stage.head("GET", "/x")) }
        for _ in 0..<3 { _ = try stage.fetch("/settled", method: "OPTIONS", fields: "Max-Forwards: 0\r\n") }
        #expect(try stage.fetch("/x", method: "POST").status == 204)
        release.open()
        let old = [UInt8](repeating: 0x6F, count: row.length)
        #expect(try clients[0].readResponse().body == old)
        if isJoined {
            let shared = try clients[1].readResponse()
            // A large body can be shared only by the store, once its head has arrived.
            if progress == .beforeHead, row.length > 16_384 { #expect(shared.text == "new") } else { #expect(shared.body == old) }
        }
        #expect(try stage.fetch("/x").text == "new")
        // The response of a fetch after the write is stored.
        #expect(try stage.fetch("/x").text == "new")
        #expect(stage.requestCount("/x") == 3)
    }

    @Test("A request after the write does not join the fetch", arguments: Progress.allCases, [100, 100_000])
    func isNotJoined(progress: Progress, length: Int) throws {
        let asked = Gate()
        let release = Gate()
        let stage = try stage(progress, length: length, asked: asked, release: release)
        let early = try stage.client()
        early.send(stage.head("GET", "/x"))
        #expect(asked.wait())
        #expect(try stage.fetch("/x", method: "POST").status == 204)
        #expect(try stage.fetch("/x").text == "new")
        release.open()
        #expect(try early.readResponse().body.count == length)
        // The late response has not replaced the newer one.
        #expect(try stage.fetch("/x").text == "new")
        #expect(stage.requestCount("/x") == 3)
    }
}
