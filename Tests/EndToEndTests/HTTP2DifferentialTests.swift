import Foundation
import HTTP2Wire
import HTTPMessage
import TestSupport
import Testing

/// Sends the same seeded exchanges by both versions, each through a proxy of its own to an origin of its own, and compares what the client,
/// the origin and the log got. `LARDER_HTTP2_EXCHANGES=N` changes their number, and `LARDER_HTTP2_SEED=N` runs one seed alone.
@Suite("The same exchanges by HTTP/1.1 and HTTP/2")
struct HTTP2DifferentialTests {
    private static let count = ProcessInfo.processInfo.environment["LARDER_HTTP2_EXCHANGES"].flatMap { Int($0) } ?? 1600
    private static let seeds: [UInt64] = {
        if let one = ProcessInfo.processInfo.environment["LARDER_HTTP2_SEED"].flatMap({ UInt64($0) }) { return [one] }
        return (0..<8).map { _ in UInt64.random(in: 0..<1_000_000_000) }
    }()

    /// What can be compared of a response.
    private struct Outcome: Equatable, CustomStringConvertible {
        var status = 0
        var informational: [Int] = []
        var lines: [String] = []
        var body: [UInt8] = []
        var trailers: [String] = []
        /// Whether the response was cut off, so that its client knows that it is incomplete.
        var isCut = false

        var description: String {
            "\(informational) \(status) \(lines) \(body.count) bytes \(trailers) \(isCut ? "cut off" : "")"
        }
    }

    @Test("Status, fields, content, trailers, decisions, forwarded requests and log lines are equal", arguments: seeds)
    func compares(seed: UInt64) throws {
        let exchanges = Self.count / Self.seeds.count
        let stages = try (0..<2).map { _ in try Stage(Self.settings) { Self.answer($0, $1) } }
        var generator = SeededGenerator(seed: seed)
        let client = try HTTP2Client(stages[1].client())
        for number in 0..<exchanges {
            let request = Request(from: &generator)
            let (first, second): (Outcome, Outcome)
            do {
                first = try Self.send(request, through: stages[0])
                second = try Self.send(request, by: client, through: stages[1])
            } catch {
                Issue.record("\(error), seed \(seed), exchange \(number): \(request)")
                return
            }
            try #require(first == second, "seed \(seed), exchange \(number): \(request)")
            // What is stored by one exchange decides about the next.
            for stage in stages { stage.proxy.waitUntilStored() }
        }
        let heads = stages.map { stage in stage.origin.requestHeads.map { Self.comparable(head: $0, port: stage.origin.port) } }
        for (number, (first, second)) in zip(heads[0], heads[1]).enumerated() {
            try #require(first == second, "seed \(seed), request \(number) to the origin")
        }
        #expect(heads[0].count == heads[1].count)
        let logs = try stages.map { stage in try stage.proxy.logLines().map { Self.comparable(line: $0, port: stage.origin.port) }
        }
        // Lines of exchanges that ended at about the same time may have any order.
        let differences = logs[0].sorted().difference(from: logs[1].sorted())
        #expect(differences.isEmpty, "seed \(seed)")
        #expect(logs[0].count == exchanges && logs[1].count == exchanges)
    }

    // MARK: The exchanges

    private static let settings = """
        limits: {request_body: 60000}
        rules:
          - {name: closed, match: {path: "/4"}, deny: {}}
          - {name: edit, match: {path: "/5"}, request: {set: {X-Mark: "yes"}}, response: {set: {X-Added: "1"}}}
        """

    private struct Request: CustomStringConvertible {
        let method: String
        let path: String
        var fields: [(String, String)] = []
        var content: [UInt8]?
        var isCounted = true

        init(from generator: inout SeededGenerator) {
            method = generator.one(of: ["GET", "GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "QUERY"])
            path = "/\(generator.below(16))" + generator.one(of: ["", "", "?a=1", "?a=%2F"])
            let optional: [(Int, String, [String])] = [
                (20, "cache-control", ["no-cache", "no-store", "max-age=0", "only-if-cached", "max-stale"]),
                (15, "if-none-match", ["\"1\"", "W/\"2\"", "*", "\"other\""]),
                (10, "range", ["bytes=0-9", "bytes=5-", "bytes=-7", "bytes=0-1,4-5", "bytes=900000-"]),
                (10, "accept-encoding", ["gzip", "identity"]), (10, "accept-language", ["de", "en"]), (8, "cookie", ["a=1"]),
                (5, "authorization", ["Basic YTpi"]), (5, "te", ["trailers"]),
                (4, "if-modified-since", ["Sat, 28 Nov 2026 10:00:00 GMT"]),
                (3, "max-forwards", ["0", "3"]), (3, "expect", ["something"]), (3, "x-empty", [""]),
            ]
            for (percent, name, values) in optional where generator.chance(percent) {
                fields.append((name, generator.one(of: values)))
            }
            guard ["POST", "PUT", "QUERY"].contains(method) else { return }
            content = [UInt8](repeating: 7, count: generator.one(of: [0, 1, 3000, 40_000, 70_000]))
            // Whether an origin sees the beginning of content that turns out too long depends on the moment.
            isCounted = generator.chance(50) || content?.count == 70_000
        }

        var description: String {
            "\(method) \(path) \(fields) \(content.map { "\($0.count) bytes, counted: \(isCounted)" } ?? "")"
        }
    }

    private static let answer: @Sendable (OriginRequest, borrowing OriginConnection) -> Bool = { request, connection in
        let length = Int(request["Content-Length"] ?? "") ?? 0
        if request["Transfer-Encoding"] != nil {
            if connection.readChunks() == nil { return false }
        } else if length > 0, connection.read(count: length) == nil {
            return false
        }
        let number = Int(request.target.dropFirst().prefix { $0 != "?" }) ?? 0
        let fresh = ["Cache-Control: max-age=600\r\n", "", "Cache-Control: no-store\r\n", "Cache-Control: max-age=0\r\n"][
            number % 4]
        let tag = number % 3 == 0 ? "ETag: \"1\"\r\n" : number % 3 == 1 ? "ETag: W/\"2\"\r\n" : ""
        let vary = number % 5 == 2 ? "Vary: Accept-Language\r\n" : ""
        let fields = fresh + tag + vary + "X-Number: \(number)\r\n"
        let body = String(repeating: "\(number % 10)", count: [0, 5, 2000, 30_000, 300_000][number % 5])
        if let match = request["If-None-Match"], !tag.isEmpty, match.contains(number % 3 == 0 ? "\"1\"" : "\"2\"") {
            return connection.send("HTTP/1.1 304 Not Modified\r\n\(fields)\r\n")
        }
        switch number {
        case 9: return connection.send("HTTP/1.1 204 No Content\r\n\(fields)\r\n")
        case 10: return connection.respond("404 Not Found", fields: fields, body: body)
        case 11: return connection.respond("301 Moved Permanently", fields: fields + "Location: /1\r\n", body: body)
        case 12 where request.method != "HEAD":
            connection.send(
                "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\(fields)\r\n"
            )
            return connection.send(
                "4\r\nsome\r\n6\r\n pieces\r\n0\r\nX-Sum: 9\r\n\r\n".replacing("6\r\n pieces", with: "7\r\n pieces"))
        case 13 where request.method != "HEAD":
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\(fields)\r\nonly a part")
            return false
        case 14 where request.method != "HEAD":
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\(fields)\r\nuntil the end")
            return false
        case 15: return connection.send("HTTP/1.1 999 Bad\r\nContent-Length: x\r\n\r\n") && false
        default:
            if request.method == "HEAD" {
                return connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n")
            }
            return connection.respond(fields: fields, body: body)
        }
    }

    // MARK: Sending

    private static func send(_ request: Request, through stage: Stage) throws -> Outcome {
        let client = try stage.client()
        var lines = request.fields.map { "\($0): \($1)\r\n" }.joined()
        var body: [UInt8] = []
        if let content = request.content {
            if request.isCounted {
                lines += "content-length: \(content.count)\r\n"
                body = content
            } else {
                lines += "transfer-encoding: chunked\r\n"
                if !content.isEmpty {
                    body = Array("\(String(content.count, radix: 16))\r\n".utf8) + content + Array("\r\n".utf8)
                }
                body += Array("0\r\n\r\n".utf8)
            }
        }
        client.send(bytes: Array(stage.head(request.method, request.path, fields: lines).utf8) + body)
        var outcome = Outcome()
        var head = try client.readHead()
        while head.status < 200 {
            outcome.informational.append(head.status)
            head = try client.readHead()
        }
        outcome.status = head.status
        outcome.lines = comparable(fields: head.lines, port: stage.origin.port)
        do {
            switch head.framing(to: request.method) {
            case .none: break
            case .length(let length): outcome.body = try client.read(count: length)
            case .untilClose: outcome.body = try client.readToEnd()
            case .chunked:
                while case let chunk = try client.readChunk(), !chunk.isEmpty { outcome.body += chunk }
                while case let line = try client.readLine(), !line.isEmpty { outcome.trailers.append(line.lowercased()) }
            }
        } catch {
            outcome.isCut = true
            outcome.body = []
        }
        outcome.body = comparable(body: outcome.body)
        return outcome
    }

    private static func send(_ request: Request, by client: HTTP2Client, through stage: Stage) throws -> Outcome {
        var fields = request.fields
        if request.isCounted, let content = request.content { fields.append(("content-length", "\(content.count)")) }
        let stream = try client.begin(request.method, stage.url(request.path), fields, hasContent: request.content != nil)
        // A response may come before the end of the content, and the rest is refused.
        if let content = request.content { try? client.send(content, on: stream, end: true) }
        let response = try client.readResponse(on: stream)
        var outcome = Outcome(status: response.status, informational: response.informational)
        outcome.lines = comparable(fields: response.fields.texts, port: stage.origin.port)
        outcome.isCut = !response.hasEnded
        outcome.body = outcome.isCut ? [] : comparable(body: response.body)
        outcome.trailers = response.trailers?.texts.map { "\($0.name): \($0.value)" } ?? []
        return outcome
    }

    // MARK: Comparing

    /// The fields of a connection, and what differs from one moment to the next, are left out.
    private static func comparable(fields: [(name: String, value: String)], port: UInt16) -> [String] {
        let left = ["connection", "keep-alive", "transfer-encoding", "date", "age"]
        // HTTP/2 has no malformed Content-Length (RFC 9113 §8.1.1).
        return fields.filter { !left.contains($0.name.lowercased()) && $0.value != "x" }
            .map { "\($0.name.lowercased()): \($0.value)".replacing("\(port)", with: "PORT") }
            .map { $0.replacing(/ttl=-?\d+/, with: "ttl").replacing(/"instance":"[0-9a-f]+"/, with: "instance") }
            .sorted()
    }

    /// Errors name the request.
    private static func comparable(body: [UInt8]) -> [UInt8] {
        guard body.starts(with: Array("{\"type\"".utf8)) else { return body }
        return Array(String(decoding: body, as: UTF8.self).replacing(/"instance":"[0-9a-f]+"/, with: "instance").utf8)
    }

    private static func comparable(head: String, port: UInt16) -> [String] {
        let lines = head.split(separator: "\r\n").map { $0.replacing("\(port)", with: "PORT") }
        let names = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            let value = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
            return "\(parts[0].lowercased()): \(value)".replacing("via: 2.0", with: "via: 1.1")
        }
        return [String(lines[0])] + names.sorted()
    }

    private static func comparable(line: String, port: UInt16) -> String {
        let varying = /"(ts|id|client)":"[^"]*",?|"[a-z_]*(_ms|bytes|bytes_in|reused)":[^,}]*,?/
        return line.replacing(varying, with: "").replacing("\(port)", with: "PORT")
    }
}

extension Fields {
    fileprivate var texts: [(name: String, value: String)] { lines.map { (text(of: $0.name), text(of: $0.value)) } }
}
