import Testing
import TestSupport

@Suite("The length limit for stored bodies of undeclared length")
struct StorageLimitTests {
    @Test(
        "cache.max_size holds for chunked bodies: stored at the limit, not stored one byte above it, served completely either way",
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

    enum Place: CaseIterable { case memory, file, behind }

    /// Sends a first version of this many bytes, and then always a second one.
    private static func stage(_ place: Place, lengths: [Int], isChunked: Bool = false) throws -> Stage {
        let count = Counter()
        return try Stage(storePath: place == .memory ? ":memory:" : nil, store: { if place == .file { $0.disk.low = 3 << 20 } }) {
            _, connection in
            let version = min(count.next(), 2)
            let body = [UInt8](repeating: UInt8(ascii: "0") + UInt8(version), count: lengths[version - 1])
            let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(body.count)"
            connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nETag: \"\(version)\"\r\n\(framing)\r\n\r\n")
            guard isChunked else { return connection.send(bytes: body) }
            connection.send(String(body.count, radix: 16) + "\r\n")
            return connection.send(bytes: body) && connection.send("\r\n0\r\n\r\n")
        }
    }

    /// Stores the first version, requests the second one with no-cache, and then sends a plain request.
    private static func versions(_ place: Place, of stage: Stage) throws -> [UInt8?] {
        _ = try stage.fetch("/x")
        stage.proxy.waitUntilStored()
        let second = place == .behind ? try SecondProxy(stage) : nil
        return try ["", "Cache-Control: no-cache\r\n", ""].map { fields in
            let response = try second?.fetch("/x", fields: fields) ?? stage.fetch("/x", fields: fields)
            return response.body.first
        }
    }

    @Test(
        "A response too long to be stored removes the older one, so that no client gets the old version",
        arguments: Place.allCases, [false, true])
    func takesOlderAway(place: Place, isChunked: Bool) throws {
        let stage = try Self.stage(place, lengths: [300_000, 6 << 20], isChunked: isChunked)
        #expect(try Self.versions(place, of: stage) == Array("122".utf8))
    }

    @Test("After the end of a long response the old one is never served again", arguments: Place.allCases)
    func isFoundAtOnce(place: Place) throws {
        for _ in 0..<5 {
            let stage = try Self.stage(place, lengths: [300_000, 200_000])
            #expect(try Self.versions(place, of: stage) == Array("122".utf8))
        }
    }
}
