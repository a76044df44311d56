import Foundation
import HTTP2Wire
import HTTPMessage
import TestSupport
import Testing

/// Sends the same seeded exchanges by both versions to origins of both, each way through a proxy of its own, and compares what the client, the
/// origin and the log got. `LARDER_HTTP2_EXCHANGES=N` changes their number, and `LARDER_HTTP2_SEED=N` runs one seed alone.
@Suite("The same exchanges by HTTP/1.1 and HTTP/2, to origins with HTTP/1.1 and HTTP/2")
struct HTTP2DifferentialTests {
    private static let count = ProcessInfo.processInfo.environment["LARDER_HTTP2_EXCHANGES"].flatMap { Int($0) } ?? 400
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
        let stages = try [(false, false), (true, false), (false, true), (true, true)].map { client, origin in
            try DifferentialStage(clientIsHTTP2: client, originIsHTTP2: origin)
        }
        var generator = SeededGenerator(seed: seed)
        for number in 0..<exchanges {
            let request = Request(from: &generator)
            let first: Outcome
            do {
                first = try stages[0].send(request)
                for (index, stage) in stages.enumerated().dropFirst() {
                    let other = try stage.send(request)
                    try #require(first == other, "seed \(seed), exchange \(number), way \(index): \(request)")
                }
            } catch let error where !(error is ExpectationFailedError) {
                Issue.record("\(error), seed \(seed), exchange \(number): \(request)")
                return
            }
            // What is stored by one exchange decides about the next.
            for stage in stages { stage.proxy.waitUntilStored() }
        }
        let heads = stages.map { stage in stage.origin.requestHeads.map { Self.comparable(head: $0, port: stage.origin.port) } }
        for (way, others) in heads.enumerated().dropFirst() {
            for (number, (first, other)) in zip(heads[0], others).enumerated() {
                try #require(first == other, "seed \(seed), request \(number) to the origin, way \(way)")
            }
            #expect(heads[0].count == others.count, "seed \(seed), way \(way)")
        }
        let logs = try stages.map { stage in try stage.proxy.logLines().map { Self.comparable(line: $0, port: stage.origin.port) }
        }
        for (way, log) in logs.enumerated() {
            // Lines of exchanges that ended at about the same time may have any order.
            let differences = logs[0].sorted().difference(from: log.sorted())
            #expect(differences.isEmpty && log.count == exchanges, "seed \(seed), way \(way): \(differences)")
        }
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

    // MARK: The origin

    /// A response, to be sent in either version.
    private struct Answer {
        enum End { case counted, chunked, untilClose, cut, malformed }

        var status = "200 OK"
        var fields: [(String, String)]
        var body = ""
        var end = End.counted
        var hasHint = false
        var trailers: [(String, String)] = []

        init(to request: OriginRequest) {
            let number = Int(request.target.dropFirst().prefix { $0 != "?" }) ?? 0
            fields = [("X-Number", "\(number)")]
            let lifetime = ["max-age=600", "", "no-store", "max-age=0"][number % 4]
            if !lifetime.isEmpty { fields.append(("Cache-Control", lifetime)) }
            let tag = ["\"1\"", "W/\"2\"", ""][number % 3]
            if !tag.isEmpty { fields.append(("ETag", tag)) }
            if number % 5 == 2 { fields.append(("Vary", "Accept-Language")) }
            body = String(repeating: "\(number % 10)", count: [0, 5, 2000, 30_000, 300_000][number % 5])
            if let match = request["If-None-Match"], !tag.isEmpty, match.contains(number % 3 == 0 ? "\"1\"" : "\"2\"") {
                status = "304 Not Modified"
                return
            }
            switch number {
            case 9: status = "204 No Content"
            case 10: status = "404 Not Found"
            case 11:
                status = "301 Moved Permanently"
                fields.append(("Location", "/1"))
            case 12 where request.method != "HEAD":
                hasHint = true
                end = .chunked
                body = "some pieces"
                trailers = [("X-Sum", "9")]
            case 13 where request.method != "HEAD":
                end = .cut
                body = "only a part"
            case 14 where request.method != "HEAD":
                end = .untilClose
                body = "until the end"
            case 15 where request.method != "HEAD":
                end = .malformed
                body = ""
            default: break
            }
        }

        var hasContent: Bool { !status.hasPrefix("304") && !status.hasPrefix("204") }

        /// - Returns: whether the connection goes on.
        func send(to request: OriginRequest, on connection: borrowing OriginConnection) -> Bool {
            let lines = fields.map { "\($0): \($1)\r\n" }.joined()
            if hasHint { connection.send("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n") }
            let start = "HTTP/1.1 \(status)\r\n\(lines)"
            if !hasContent { return connection.send(start + "\r\n") }
            switch end {
            case .counted:
                return connection.send(
                    start + "Content-Length: \(body.utf8.count)\r\n\r\n" + (request.method == "HEAD" ? "" : body))
            case .chunked:
                connection.send(start + "Transfer-Encoding: chunked\r\n\r\n")
                let end = trailers.map { "\($0): \($1)\r\n" }.joined()
                return connection.send("\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\(end)\r\n")
            case .untilClose: connection.send(start + "Connection: close\r\n\r\n\(body)")
            case .cut: connection.send(start + "Content-Length: 100\r\n\r\n\(body)")
            case .malformed: connection.send(start + "Content-Length: x\r\n\r\n")
            }
            return false
        }

        func send(to request: HTTP2Origin.Request, by server: HTTP2Origin) {
            let stream = request.stream
            let code = Int(status.prefix(3)) ?? 500
            let fields = fields.map { ($0.lowercased(), $1) }
            if hasHint { try? server.session.submitInformational(stream, HTTP2Origin.head(103, [("link", "</a.css>")])) }
            if !hasContent { return server.respond(stream, code, fields) }
            switch end {
            case .counted:
                let length = [("content-length", "\(body.utf8.count)")]
                if request.head.method == "HEAD" { return server.respond(stream, code, fields + length) }
                server.respond(stream, code, fields + length, body: body)
            case .chunked, .untilClose:
                server.respond(stream, code, fields, body: body, trailers: trailers.map { ($0.lowercased(), $1) })
            case .cut:
                server.begin(stream, code, fields + [("content-length", "100")])
                server.send(body, on: stream)
            case .malformed: server.respond(stream, code, fields + [("content-length", "x")])
            }
        }
    }

    /// A proxy and an origin that speaks TLS.
    private final class DifferentialStage {
        let authority = TestAuthority()
        let origin: ScriptedOrigin
        let proxy: TestProxy
        let client: HTTP2Client?

        init(clientIsHTTP2: Bool, originIsHTTP2: Bool) throws {
            let identity = authority.identity()
            origin = ScriptedOrigin(identity: originIsHTTP2 ? identity.choosingHTTP2() : identity) { connection in
                if connection.isHTTP2 { Self.serveHTTP2(connection) } else { Self.serve(connection) }
            }
            let trust = try SecureStage.trust(authority)
            proxy = try TestProxy(HTTP2DifferentialTests.settings, change: { $0.transport.trust = trust })
            client = clientIsHTTP2 ? try HTTP2Client(RawClient(port: proxy.port, owner: proxy)) : nil
        }

        deinit {
            proxy.stop()
            origin.stop()
        }

        private static func serve(_ connection: borrowing OriginConnection) {
            while let head = connection.readHead() {
                let request = OriginRequest(head: head)
                guard connection.readBody(of: request) != nil, Answer(to: request).send(to: request, on: connection) else {
                    return
                }
            }
        }

        private static func serveHTTP2(_ connection: borrowing OriginConnection) {
            let server = HTTP2Origin()
            while let event = server.next(on: connection) {
                guard case .end(let id) = event, let request = server.request(on: id) else { continue }
                let answer = Answer(to: request.head)
                answer.send(to: request, by: server)
                if answer.end == .cut, answer.hasContent {
                    server.flush(to: connection)
                    server.session.reset(id, .internalError)
                }
            }
        }

        func url(_ path: String) -> String { "https://127.0.0.1:\(origin.port)\(path)" }

        func send(_ request: Request) throws -> Outcome {
            if let client { return try HTTP2DifferentialTests.send(request, by: client, through: self) }
            return try HTTP2DifferentialTests.send(request, through: self)
        }
    }

    // MARK: Sending

    private static func send(_ request: Request, through stage: DifferentialStage) throws -> Outcome {
        let client = try RawClient(port: stage.proxy.port, owner: stage)
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
        let host = "127.0.0.1:\(stage.origin.port)"
        let start = "\(request.method) \(stage.url(request.path)) HTTP/1.1\r\nHost: \(host)\r\n\(lines)\r\n"
        client.send(bytes: Array(start.utf8) + body)
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

    private static func send(_ request: Request, by client: HTTP2Client, through stage: DifferentialStage) throws -> Outcome {
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
            .map { $0.replacing("via: 2.0", with: "via: 1.1") }
            .map { withoutCause($0).replacing(/ttl=-?\d+/, with: "ttl").replacing(/"instance":"[0-9a-f]+"/, with: "instance") }
            .sorted()
    }

    /// What is malformed in a message of HTTP/1.1 makes one of HTTP/2 end with a reset.
    private static func withoutCause(_ text: String) -> String {
        text.replacing("malformed_content_length", with: "CAUSE").replacing(/stream_reset[a-z_]*/, with: "CAUSE")
            .replacing(/content-length: 2\d\d$/, with: "content-length: of an error")
    }

    /// Errors name the request.
    private static func comparable(body: [UInt8]) -> [UInt8] {
        guard body.starts(with: Array("{\"type\"".utf8)) else { return body }
        let text = withoutCause(String(decoding: body, as: UTF8.self))
        return Array(text.replacing(/"instance":"[0-9a-f]+"/, with: "instance").utf8)
    }

    private static func comparable(head: String, port: UInt16) -> [String] {
        // HTTP/2 has no names of framings, and tells the server by TE that trailers are of use.
        let left = ["te", "transfer-encoding"]
        let lines = head.replacing(" HTTP/2", with: " HTTP/1.1").split(separator: "\r\n").map {
            $0.replacing("\(port)", with: "PORT")
        }
        let names = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            let value = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
            return "\(parts[0].lowercased()): \(value)".replacing("via: 2.0", with: "via: 1.1")
        }
        return [String(lines[0])] + names.filter { line in !left.contains { line.hasPrefix($0 + ":") } }.sorted()
    }

    private static func comparable(line: String, port: UInt16) -> String {
        let varying = /"(ts|id|client|upstream_version)":"[^"]*",?|"[a-z_]*(_ms|bytes|bytes_in|reused)":[^,}]*,?/
        // Where a connection was opened, the line has the chain of its server.
        let line = line.replacing(/"tls":\{.*?\]\},/, with: "")
        return withoutCause(line).replacing(varying, with: "").replacing("\(port)", with: "PORT")
    }
}

extension Fields {
    fileprivate var texts: [(name: String, value: String)] { lines.map { (text(of: $0.name), text(of: $0.value)) } }
}
