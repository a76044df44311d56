import TestSupport
import Testing

@Suite("Ranges of bodies too long to be stored (RFC 9110 §14.4)")
struct BoundlessRangeTests {
    private static let fields = "ETag: \"v\"\r\nCache-Control: max-age=600\r\n"

    private func stage(contentRange: String, body: String, storePath: String?) throws -> Stage {
        try Stage(storePath: storePath) { request, connection in
            if request["Range"] == nil { return connection.respond(fields: Self.fields, body: "whole") }
            _ = connection.send("HTTP/1.1 206 Partial Content\r\n\(Self.fields)Content-Range: bytes \(contentRange)\r\n\(body)")
            return false
        }
    }

    @Test(
        "T39 a range of a body longer than the store's limit passes and is not stored",
        arguments: ["137438953473", "1152921504606846976", "1152921504606846977", "9223372036854775807", "18446744073709551615"],
        [":memory:", nil])
    func keepsNoPart(whole: String, storePath: String?) throws {
        let stage = try stage(contentRange: "0-4/\(whole)", body: "Content-Length: 5\r\n\r\n01234", storePath: storePath)
        for _ in 0..<2 {
            let response = try stage.fetch("/x", fields: "Range: bytes=0-4\r\n")
            #expect(response.status == 206)
            #expect(response.text == "01234")
            #expect(!response.cacheStatus.contains("stored"))
        }
        #expect(!stage.proxy.store.hasPartials)
        #expect(stage.requestCount() == 2)
        #expect(try stage.fetch("/x").text == "whole")
    }

    @Test("T39 an incomplete range near the greatest offset is neither continued nor stored", arguments: [":memory:", nil])
    func continuesNothing(storePath: String?) throws {
        let content = String(repeating: "x", count: 100)
        let stage = try stage(
            contentRange: "18446744073709551600-18446744073709551613/*",
            body: "Transfer-Encoding: chunked\r\n\r\n64\r\n\(content)\r\n", storePath: storePath)
        let client = try stage.client()
        client.send(stage.head("GET", "/x", fields: "Range: bytes=18446744073709551600-\r\n"))
        #expect(try client.readHead().status == 206)
        let sent = try client.readToEnd()
        #expect(!String(decoding: sent, as: UTF8.self).hasSuffix("0\r\n\r\n"))
        #expect(stage.requestCount() == 1)
        #expect(try stage.fetch("/x").text == "whole")
    }
}
