import Testing
import TestSupport

@Suite("How long a body may be to be kept, where no one says its length")
struct StorageLimitTests {
    @Test(
        "cache.max_size holds for chunked bodies: kept at the limit, not one past it; served whole either way",
        arguments: [100, 16_384, 20_000, 3_000_000], [0, 1])
    func limitsChunked(limit: Int, excess: Int) throws {
        let body = PatternedBody(length: limit + excess)
        let stage = try Stage("rules: [{name: small, cache: {max_size: \(limit)B}}]") { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n")
            connection.send(String(body.length, radix: 16) + "\r\n")
            return connection.send(body) == body.length && connection.send("\r\n0\r\n\r\n")
        }
        for _ in 0..<2 {
            let response = try stage.fetch("/chunked")
            #expect(response.body.count == body.length)
            #expect(response.body.withUnsafeBytes { body.matches($0, at: 0) })
        }
        #expect(stage.requestCount() == (excess == 0 ? 1 : 2))
        let line = try stage.proxy.logLines()[0]
        #expect(line.contains(excess == 0 ? "\"storage\":\"stored\"" : "\"storage\":\"body_too_large\""))
    }
}
