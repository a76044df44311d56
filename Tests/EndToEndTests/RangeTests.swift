import Testing
import TestSupport

@Suite("Ranges of stored responses (RFC 9110 §14)")
struct RangeTests {
    /// The parts of a multipart/byteranges body, each with its Content-Range and its content.
    private func parts(of response: ReceivedResponse) throws -> [(range: String, content: [UInt8])] {
        let type = try #require(response["Content-Type"])
        let boundary = try #require(type.split(separator: "=").last)
        let delimiter = Array("\r\n--\(boundary)".utf8)
        var parts: [(String, [UInt8])] = []
        var rest = response.body[...]
        while let start = rest.firstRange(of: delimiter)?.upperBound {
            rest = rest[start...]
            if rest.starts(with: "--\r\n".utf8) { return parts }
            let headEnd = try #require(rest.firstRange(of: Array("\r\n\r\n".utf8)))
            let head = String(decoding: rest[..<headEnd.lowerBound], as: UTF8.self)
            #expect(head.contains("\r\nContent-Type: text/x"))
            let end = try #require(rest.firstRange(of: delimiter)?.lowerBound)
            let place = head.split(separator: "bytes ").last.map(String.init) ?? ""
            parts.append((place, Array(rest[headEnd.upperBound..<end])))
            rest = rest[end...]
        }
        Issue.record("there is no end")
        return parts
    }

    @Test(
        "Several ranges of one stored body arrive as parts, from memory and from the disk, on one connection",
        arguments: [3000, 100_000, 6_000_000], [":memory:", nil])
    func sendsParts(length: Int, storePath: String?) throws {
        let body = PatternedBody(length: length)
        let stage = try Stage(RangedOrigin(body), storePath: storePath)
        let client = try stage.client()
        client.send(stage.head("GET", "/x"))
        _ = try client.readHead()
        #expect(try client.read(body, count: length) == length)
        // The memory-only store has a limit for one body.
        if length > 4 << 20, storePath != nil { return }
        try stage.waitUntilStored("/x")
        let last = length / 4
        client.send(stage.head("GET", "/x", fields: "Range: bytes=1000-1999,5-9,-\(last)\r\n"))
        let response = try client.readResponse()
        #expect(response.status == 206)
        let parts = try parts(of: response)
        #expect(
            parts.map(\.range) == [
                "1000-1999/\(length)", "5-9/\(length)", "\(length - last)-\(length - 1)/\(length)",
            ])
        #expect(parts.map(\.content) == [body.bytes(1000..<2000), body.bytes(5..<10), body.bytes(length - last..<length)])
        client.send(stage.head("GET", "/x", fields: "Range: bytes=0-3\r\n"))
        #expect(try client.readResponse().body == body.bytes(0..<4))
        #expect(stage.requestCount() == 1)
    }
}
