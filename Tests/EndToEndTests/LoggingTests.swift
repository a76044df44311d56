import Foundation
import Testing
import TestSupport

@Suite("The access log, from real requests")
struct LoggingTests {
    @Test("A line for each request tells what was decided")
    func tellsDecisions() throws {
        let stage = try Stage("rules: [{name: no, match: {path: /no}, deny: {reason: no}}]") { _, connection in
            connection.respond(fields: "Cache-Control: max-age=60\r\n", body: "x")
        }
        for path in ["/a", "/a", "/no"] { _ = try stage.fetch(path) }
        let lines = try stage.proxy.logLines().map {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
        }
        #expect(lines.map { $0["cache"] as? String } == ["miss", "hit", "denied"])
        #expect(lines.map { $0["status"] as? Int } == [200, 200, 403])
        #expect(lines[0]["storage"] as? String == "stored")
        #expect(lines[2]["rule"] as? String == "no")
    }

    @Test("T43 what a peer sends never breaks a line or reaches a terminal")
    func escapes() throws {
        let stage = try Stage { _, connection in
            connection.respond(fields: "Content-Type: text/\u{9b}31m\"x\r\n", body: "x")
        }
        _ = try stage.fetch("/%0d%0a%1b[31m\"quoted\"?q=secret", fields: "User-Agent: a\"b\\\u{c2}\u{9b}31m\u{2028}\u{202e}c\r\n")
        let client = try stage.client()
        client.send("GET http://127.0.0.1/\u{1b}[31m HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try client.readResponse()
        let lines = try stage.proxy.logLines()
        #expect(lines.count == 2)
        for line in lines {
            _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
            for scalar in line.unicodeScalars { #expect(scalar.value >= 0x20 && scalar.value < 0x7F) }
            #expect(!line.contains("secret"))
        }
    }
}
