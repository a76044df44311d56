import EventLoop
import HTTP2Wire
import HTTPMessage
import HTTPWire
import TestSupport
import Testing

@testable import UpstreamTransport

@Suite("Transport: servers that speak HTTP/2 (RFC 9113)")
struct HTTP2OriginTests {
    private let authority = TestAuthority()

    private func origin(
        _ limits: HTTP2Limits = HTTP2Limits(), answer: @escaping @Sendable (HTTP2Origin, HTTP2Origin.Request) -> Void
    ) -> ScriptedOrigin {
        ScriptedOrigin(identity: authority.identity().choosingHTTP2()) { HTTP2Origin.serve($0, limits: limits, answer: answer) }
    }

    /// An origin whose script gets each connection.
    private func scripted(_ script: @escaping @Sendable (HTTP2Origin, borrowing OriginConnection) -> Void) -> ScriptedOrigin {
        ScriptedOrigin(identity: authority.identity().choosingHTTP2()) { connection in
            guard connection.isHTTP2 else { return }
            script(HTTP2Origin(), connection)
        }
    }

    private func harness(
        budgets: UpstreamBudgets = UpstreamBudgets(), _ change: (inout TransportConfiguration) -> Void = { _ in }
    ) throws -> TransportHarness {
        let policies = try authority.policies()
        return try TransportHarness(budgets: budgets) {
            $0.trust = policies
            change(&$0)
        }
    }

    private static let answersPath: @Sendable (HTTP2Origin, HTTP2Origin.Request) -> Void = { server, request in
        server.respond(request.stream, 200, [("x-method", request.head.method)], body: "answer to \(request.head.target)")
    }

    @Test("A request and its response pass in HTTP/2, without fields of HTTP/1.1; the next request uses the same connection")
    func fetches() throws {
        let heads = Guarded<[OriginRequest]>([])
        let origin = origin { server, request in
            heads.withLock { $0.append(request.head) }
            Self.answersPath(server, request)
        }
        defer { origin.stop() }
        let harness = try harness()
        let recorder = Recorder()
        _ = harness.open(
            recorder, scheme: .https, port: origin.port, path: "/a?b=c", fields: "Connection: X-Gone\r\nX-Mark: Yes\r\n")
        #expect(harness.run { recorder.hasEnded })
        #expect(recorder.isComplete && recorder.status == 200 && recorder.text == "answer to /a?b=c")
        #expect(recorder.metrics.version == .http2 && recorder.metrics.handshakeTime > 0 && !recorder.metrics.isConnectionReused)
        let second = harness.fetch(.https, port: origin.port, path: "/d")
        #expect(second.text == "answer to /d" && second.metrics.isConnectionReused)
        #expect(origin.connectionCount == 1)
        #expect(harness.transport.statistics.idle == 1)
        let first = heads.withLock { $0[0] }
        #expect(first.method == "GET" && first.target == "/a?b=c" && first["x-mark"] == "Yes" && first["connection"] == nil)
        #expect(first.values("host") == ["127.0.0.1:\(origin.port)"])
    }

    @Test("Requests at the same time share the connection, once the server is known to speak HTTP/2")
    func shares() throws {
        let arrived = Guarded(0)
        let origin = scripted { server, connection in
            while let event = server.next(on: connection) {
                guard case .end(let id) = event, let request = server.request(on: id) else { continue }
                if request.head.target == "/first" {
                    server.respond(id, body: "first")
                } else if arrived.withLock({
                    $0 += 1; return $0 == 20
                }) {
                    // All twenty have arrived on this connection.
                    for number in 0..<20 { server.respond(id - Int32(2 * number), body: "\(id)") }
                }
            }
        }
        defer { origin.stop() }
        let harness = try harness()
        #expect(harness.fetch(.https, port: origin.port, path: "/first").isComplete)
        let recorders = (0..<20).map { _ in Recorder() }
        for recorder in recorders { _ = harness.open(recorder, scheme: .https, port: origin.port) }
        #expect(harness.run { recorders.allSatisfy(\.hasEnded) })
        #expect(recorders.allSatisfy { $0.isComplete })
        #expect(origin.connectionCount == 1)
        #expect(harness.budgets.statistics.connections == 1)
        // The next ones wait for one connection together.
        harness.transport.closeIdleConnections()
        #expect(harness.budgets.statistics.connections == 0)
    }

    @Test("Requests wait for the connection that another one opens, and share its failure")
    func joins() throws {
        let origin = origin(answer: Self.answersPath)
        let harness = try harness()
        #expect(harness.fetch(.https, port: origin.port).isComplete)
        harness.transport.closeIdleConnections()
        let recorders = (0..<5).map { _ in Recorder() }
        for recorder in recorders { _ = harness.open(recorder, scheme: .https, port: origin.port) }
        #expect(harness.run { recorders.allSatisfy(\.hasEnded) })
        #expect(recorders.allSatisfy(\.isComplete) && origin.connectionCount == 2)
        harness.transport.closeIdleConnections()
        // One that gives up does not end the others' wait.
        let left = (0..<3).map { _ in Recorder() }
        let exchanges = left.map { harness.open($0, scheme: .https, port: origin.port) }
        exchanges[0].cancel()
        #expect(harness.run { left[1].hasEnded && left[2].hasEnded })
        #expect(left[1].isComplete && left[2].isComplete && left[0].endCount == 0)
        harness.transport.closeIdleConnections()
        origin.stop()
        let late = (0..<3).map { _ in Recorder() }
        for recorder in late { _ = harness.open(recorder, scheme: .https, port: origin.port) }
        #expect(harness.run { late.allSatisfy(\.hasEnded) })
        #expect(late.allSatisfy { $0.error != nil })
        #expect(harness.budgets.statistics.connections == 0 && harness.transport.isQuiet)
    }

    @Test("The limit for each origin counts streams, and requests beyond it wait")
    func limitsStreams() throws {
        let most = Guarded(0)
        let origin = scripted { server, connection in
            var open: [HTTP2StreamID] = []
            while let event = server.next(on: connection) {
                guard case .end(let id) = event else { continue }
                open.append(id)
                most.withLock { [count = open.count] in $0 = max($0, count) }
                if open.count == 3 || server.request(on: id)?.head.target == "/alone" {
                    for id in open { server.respond(id, body: "a") }
                    open = []
                }
            }
        }
        defer { origin.stop() }
        let harness = try harness(budgets: UpstreamBudgets(connections: 6, connectionsPerOrigin: 1))
        #expect(harness.fetch(.https, port: origin.port, path: "/alone").isComplete)
        let recorders = (0..<12).map { _ in Recorder() }
        for recorder in recorders { _ = harness.open(recorder, scheme: .https, port: origin.port) }
        #expect(harness.run { recorders.allSatisfy(\.hasEnded) })
        #expect(recorders.allSatisfy(\.isComplete) && most.withLock { $0 } == 3)
        #expect(origin.connectionCount == 1 && harness.budgets.statistics == (1, 0))
        harness.transport.closeIdleConnections()
        #expect(harness.budgets.statistics == (0, 0))
    }

    @Test("As many streams are open as the server permits (SETTINGS_MAX_CONCURRENT_STREAMS); others use another connection")
    func obeysSettings() throws {
        var limits = HTTP2Limits()
        limits.concurrentStreams = 2
        let refusals = Guarded(0)
        let third = Gate()
        let origin = scripted { [limits] _, connection in
            let server = HTTP2Origin(limits: limits)
            var open: [HTTP2StreamID] = []
            while let event = server.next(on: connection) {
                if case .reset = event { refusals.withLock { $0 += 1 } }
                guard case .end(let id) = event else { continue }
                open.append(id)
                let isAlone = server.request(on: id)?.head.target == "/alone"
                if connection.number == 2 { third.open() } else if !isAlone, open.count < 2 { continue }
                if !isAlone { third.wait() }
                for id in open { server.respond(id, body: "a") }
                open = []
            }
        }
        defer { origin.stop() }
        let harness = try harness()
        #expect(harness.fetch(.https, port: origin.port, path: "/alone").isComplete)
        let recorders = (0..<3).map { _ in Recorder() }
        for recorder in recorders { _ = harness.open(recorder, scheme: .https, port: origin.port) }
        #expect(harness.run { recorders.allSatisfy(\.hasEnded) })
        #expect(recorders.allSatisfy(\.isComplete) && refusals.withLock { $0 } == 0)
        #expect(origin.connectionCount == 2)
    }

    @Test("Content and trailers pass both ways, however small the windows", arguments: [1000, 262_144])
    func passesContent(window: Int) throws {
        var limits = HTTP2Limits()
        limits.streamWindow = window
        let origin = origin(limits) { server, request in
            let sum = request.content.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFFFF }
            server.respond(
                request.stream, 200, [("x-count", "\(request.content.count)"), ("x-trailers", "\(request.trailers)")],
                content: [UInt8](repeating: 7, count: 1_000_000), trailers: [("x-sum", "\(sum)")])
        }
        defer { origin.stop() }
        let harness = try harness { $0.http2Limits.streamWindow = max(window, 65_535) }
        let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        for framing in [BodyFraming.chunked, .length(UInt64(content.count))] {
            let recorder = Recorder()
            let lines = framing == .chunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: \(content.count)\r\n"
            let exchange = harness.open(
                recorder, scheme: .https, port: origin.port, method: .post, fields: lines, body: framing)
            var rest = content[...]
            func send() {
                while !rest.isEmpty {
                    let piece = rest.prefix(10_000)
                    rest = rest.dropFirst(piece.count)
                    if !exchange.sendBody(piece.span) { return }
                }
                var trailers = Fields()
                if framing == .chunked { trailers.append(name: Array("x-end".utf8).span, value: Array("1".utf8).span) }
                exchange.endBody(trailers: trailers)
            }
            recorder.onReady = { _ in send() }
            send()
            #expect(harness.run { recorder.hasEnded })
            #expect(recorder.isComplete && recorder.fields.value("x-count") == "300000")
            #expect(recorder.fields.value("x-trailers") == (framing == .chunked ? "[\"x-end: 1\"]" : "[]"))
            #expect(recorder.body.count == 1_000_000 && recorder.body.allSatisfy { $0 == 7 })
            #expect(recorder.trailers?.value("x-sum") == "\(content.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFFFF })")
        }
        #expect(origin.connectionCount == 1)
    }

    @Test("Both directions are open at the same time: each message is answered before the next one is sent")
    func talks() throws {
        let origin = scripted { server, connection in
            while let event = server.next(on: connection) {
                switch event {
                case .head(let id): server.begin(id, 200, [("content-type", "application/grpc")])
                case .content(let id, let bytes): server.send("echo " + String(decoding: bytes, as: UTF8.self), on: id)
                case .end(let id): server.send([], trailers: [("grpc-status", "0")], on: id)
                default: break
                }
            }
        }
        defer { origin.stop() }
        let harness = try harness()
        let recorder = Recorder()
        let exchange = harness.open(
            recorder, scheme: .https, port: origin.port, method: .post, fields: "Transfer-Encoding: chunked\r\n", body: .chunked)
        for number in 0..<5 {
            let before = recorder.body.count
            _ = exchange.sendBody(Array("message \(number)".utf8).span)
            #expect(harness.run { recorder.body.count > before })
            #expect(recorder.status == 200 && recorder.text.hasSuffix("echo message \(number)"))
        }
        exchange.endBody()
        #expect(harness.run { recorder.hasEnded })
        #expect(recorder.isComplete && recorder.trailers?.value("grpc-status") == "0")
    }

    @Test("The server learns by TE whether trailers are of use")
    func announcesTrailers() throws {
        let origin = origin { server, request in server.respond(request.stream, body: request.head["te"] ?? "none") }
        defer { origin.stop() }
        let harness = try harness()
        for accepts in [true, false] {
            let recorder = Recorder()
            var request = UpstreamRequest(
                origin: Origin(scheme: .https, host: "127.0.0.1", port: origin.port), method: .get,
                head: Array("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n".utf8))
            request.acceptsTrailers = accepts
            _ = harness.transport.open(request, delegate: recorder)
            #expect(harness.run { recorder.hasEnded })
            #expect(recorder.text == (accepts ? "trailers" : "none"))
        }
    }

    @Test("Responses without content, early hints, and a length without content are passed on")
    func passesHeads() throws {
        let origin = origin { server, request in
            switch request.head.target {
            case "/hint":
                try? server.session.submitInformational(request.stream, HTTP2Origin.head(103, [("link", "</a>")]))
                server.respond(request.stream, body: "hinted")
            case "/none": server.respond(request.stream, 204)
            case "/empty": server.respond(request.stream, 200)
            default:
                try? server.session.submitResponse(
                    request.stream, HTTP2Origin.head(200, [("content-length", "12")]), endStream: true)
            }
        }
        defer { origin.stop() }
        let harness = try harness()
        let hinted = harness.fetch(.https, port: origin.port, path: "/hint")
        #expect(hinted.informational == [103] && hinted.text == "hinted" && hinted.framing == .chunked)
        let none = harness.fetch(.https, port: origin.port, path: "/none")
        #expect(none.isComplete && none.status == 204 && none.framing == BodyFraming.none)
        #expect(harness.fetch(.https, port: origin.port, path: "/empty").framing == .length(0))
        let head = harness.fetch(.https, port: origin.port, method: .head, path: "/head")
        #expect(head.isComplete && head.framing == BodyFraming.none && head.fields.value("content-length") == "12")
        #expect(origin.connectionCount == 1)
    }

    // MARK: Ends

    @Test(
        "A request that GOAWAY leaves out, or that the server refuses, is sent again on another connection",
        arguments: [true, false])
    func retries(byGoAway: Bool) throws {
        let origin = scripted { server, connection in
            while let event = server.next(on: connection) {
                guard case .end(let id) = event, let request = server.request(on: id) else { continue }
                if connection.number == 1, request.head.target == "/again" {
                    if byGoAway {
                        connection.send(bytes: Self.goAway(last: 1))
                    } else {
                        server.session.reset(id, .refusedStream)
                    }
                } else {
                    server.respond(id, body: "\(connection.number) \(request.head.method)")
                }
            }
        }
        defer { origin.stop() }
        let harness = try harness()
        #expect(harness.fetch(.https, port: origin.port, path: "/first").text == "1 GET")
        // Also a method that is not idempotent: the server has not processed the request (RFC 9113 §8.7).
        let recorder = harness.fetch(.https, port: origin.port, method: .post, path: "/again")
        if byGoAway {
            #expect(recorder.isComplete && recorder.text == "2 POST" && recorder.metrics.isRetried)
        } else {
            // The connection still accepts requests, so that the request is sent on it again, and not without end.
            #expect(recorder.error == .streamReset(.refusedStream) && recorder.metrics.isRetried)
        }
        #expect(harness.budgets.statistics.connections <= 1)
    }

    private static func goAway(last: UInt8) -> [UInt8] { [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, last, 0, 0, 0, 0] }

    @Test(
        "Content that was sent before GOAWAY is sent again, if it is as much as a new stream's window", arguments: [1000, 60_000])
    func sendsContentAgain(length: Int) throws {
        let origin = scripted { server, connection in
            while let event = server.next(on: connection) {
                switch event {
                case .head where connection.number == 1: connection.send(bytes: Self.goAway(last: 0))
                case .end(let id):
                    guard connection.number > 1, let request = server.request(on: id) else { continue }
                    server.respond(id, body: "\(request.content.count) \(request.trailers)")
                default: break
                }
            }
        }
        defer { origin.stop() }
        let harness = try harness()
        let recorder = Recorder()
        let exchange = harness.open(
            recorder, scheme: .https, port: origin.port, method: .post, fields: "Transfer-Encoding: chunked\r\n", body: .chunked)
        _ = exchange.sendBody([UInt8](repeating: 1, count: length / 2).span)
        #expect(harness.run { origin.connectionCount == 2 })
        _ = exchange.sendBody([UInt8](repeating: 2, count: length / 2).span)
        var trailers = Fields()
        trailers.append(name: Array("x-end".utf8).span, value: Array("1".utf8).span)
        exchange.endBody(trailers: trailers)
        #expect(harness.run { recorder.hasEnded })
        #expect(recorder.text == "\(length) [\"x-end: 1\"]", "\(recorder.text) \(String(describing: recorder.error))")
    }

    @Test("On a new connection one request begins, and the others wait until the server says how many it accepts")
    func awaitsSettings() throws {
        var limits = HTTP2Limits()
        limits.concurrentStreams = 2
        let refusals = Guarded(0)
        let origin = scripted { [limits] _, connection in
            let server = HTTP2Origin(limits: limits)
            while let event = server.next(on: connection) {
                if case .reset = event { refusals.withLock { $0 += 1 } }
                if case .end(let id) = event { server.respond(id, body: "a") }
            }
        }
        defer { origin.stop() }
        let harness = try harness(budgets: UpstreamBudgets(connections: 8, connectionsPerOrigin: 4))
        #expect(harness.fetch(.https, port: origin.port).isComplete)
        harness.transport.closeIdleConnections()
        let recorders = (0..<60).map { _ in Recorder() }
        for recorder in recorders { _ = harness.open(recorder, scheme: .https, port: origin.port) }
        #expect(harness.run { recorders.allSatisfy(\.hasEnded) })
        #expect(recorders.allSatisfy(\.isComplete) && refusals.withLock { $0 } == 0)
        #expect(!recorders.contains { $0.metrics.isRetried } && harness.budgets.statistics.waiting == 0)
    }

    @Test("GOAWAY lets the requests that it names end on the old connection")
    func finishesAfterGoAway() throws {
        let goesOn = Gate()
        let origin = scripted { server, connection in
            while let event = server.next(on: connection) {
                guard case .end(let id) = event, let request = server.request(on: id) else { continue }
                if request.head.target == "/slow" {
                    server.begin(id)
                    server.send("be", on: id)
                    server.flush(to: connection)
                    server.session.goAway()
                    server.flush(to: connection)
                    goesOn.wait()
                    server.send(Array("gin".utf8)[...], on: id)
                } else {
                    server.respond(id, body: "\(connection.number)")
                }
            }
        }
        defer { origin.stop() }
        let harness = try harness()
        #expect(harness.fetch(.https, port: origin.port).text == "1")
        let slow = Recorder()
        _ = harness.open(slow, scheme: .https, port: origin.port, path: "/slow")
        #expect(harness.run { slow.text == "be" })
        #expect(harness.fetch(.https, port: origin.port).text == "2")
        goesOn.open()
        #expect(harness.run { slow.hasEnded })
        #expect(slow.isComplete && slow.text == "begin")
    }

    @Test("A server that requires HTTP/1.1 for a request gets it on another connection (HTTP_1_1_REQUIRED)")
    func fallsBack() throws {
        let origin = ScriptedOrigin(identity: authority.identity().choosingHTTP2()) { connection in
            guard connection.isHTTP2 else {
                while connection.readHead() != nil { connection.respond(body: "in 1.1") }
                return
            }
            let server = HTTP2Origin()
            while let event = server.next(on: connection) {
                if case .end(let id) = event { server.session.reset(id, .http11Required) }
            }
        }
        defer { origin.stop() }
        let harness = try harness()
        let recorder = harness.fetch(.https, port: origin.port)
        #expect(recorder.text == "in 1.1" && recorder.metrics.version == .http11)
        #expect(harness.fetch(.https, port: origin.port).text == "in 1.1")
    }

    @Test("A response that is reset or cut off is not complete", arguments: ["reset", "close", "head"])
    func tellsOfCuts(way: String) throws {
        let origin = scripted { server, connection in
            while let event = server.next(on: connection) {
                guard case .end(let id) = event else { continue }
                if way != "head" {
                    server.begin(id)
                    server.send("part", on: id)
                    server.flush(to: connection)
                }
                if way == "close" { return connection.cut() }
                server.session.reset(id, .internalError)
            }
        }
        defer { origin.stop() }
        let harness = try harness()
        let recorder = harness.fetch(.https, port: origin.port)
        #expect(
            recorder.error
                == (way == "head"
                    ? .streamReset(.internalError) : way == "reset" ? .responseReset(.internalError) : .incompleteBody))
        #expect(!recorder.isComplete && recorder.text == (way == "head" ? "" : "part"))
        #expect(harness.budgets.statistics.connections == (way == "close" ? 0 : 1))
    }

    @Test("A client that stops reading delays no other stream, and gets the rest later")
    func isolatesSlowReaders() throws {
        let origin = origin { server, request in
            server.respond(
                request.stream, content: [UInt8](repeating: 5, count: request.head.target == "/big" ? 3 << 20 : 1 << 20))
        }
        defer { origin.stop() }
        let harness = try harness()
        #expect(harness.fetch(.https, port: origin.port).isComplete)
        let slow = (0..<8).map { _ in Recorder() }
        let exchanges = slow.map { recorder in
            recorder.onHead = { $0.pauseReading() }
            return harness.open(recorder, scheme: .https, port: origin.port, path: "/big")
        }
        #expect(harness.run { slow.allSatisfy { $0.status == 200 } })
        for _ in 0..<3 { #expect(harness.fetch(.https, port: origin.port).body.count == 1 << 20) }
        #expect(slow.allSatisfy { $0.body.isEmpty } && origin.connectionCount == 1)
        for exchange in exchanges { exchange.resumeReading() }
        #expect(harness.run { slow.allSatisfy(\.hasEnded) })
        #expect(slow.allSatisfy { $0.isComplete && $0.body.count == 3 << 20 })
    }

    @Test(
        "Content that came while the exchange read nothing goes before what comes later; the end of the connection loses none of it",
        arguments: [false, true])
    func keepsOrder(closes: Bool) throws {
        let goesOn = Gate()
        let isSent = Gate()
        let origin = scripted { server, connection in
            var slow: HTTP2StreamID = 0
            while let event = server.next(on: connection) {
                guard case .end(let id) = event else { continue }
                if server.request(on: id)?.head.target == "/slow" {
                    slow = id
                    server.begin(id)
                    server.send(String(repeating: "1", count: 50_000), on: id)
                } else {
                    server.respond(id, body: "a")
                    server.flush(to: connection)
                    goesOn.wait()
                    server.send([UInt8](repeating: 0x32, count: 50_000)[...], on: slow)
                    server.flush(to: connection)
                    isSent.open()
                    if closes { return }
                }
            }
        }
        defer { origin.stop() }
        let harness = try harness()
        let recorder = Recorder()
        recorder.onHead = { $0.pauseReading() }
        let exchange = harness.open(recorder, scheme: .https, port: origin.port, path: "/slow")
        #expect(harness.run { recorder.status == 200 })
        #expect(harness.fetch(.https, port: origin.port, path: "/other").text == "a")
        // The rest is in the socket when the exchange reads again.
        goesOn.open()
        #expect(isSent.wait())
        if !closes { exchange.resumeReading() }
        #expect(harness.run { recorder.hasEnded })
        #expect(recorder.isComplete && recorder.body.count == 100_000)
        #expect(recorder.body == recorder.body.sorted(), "what came first is delivered first")
    }

    @Test("A head with more fields than a client may send is sent in HTTP/2")
    func sendsLongHeads() throws {
        let origin = origin { server, request in
            server.respond(request.stream, body: "\(request.head.lines.count { $0.name.hasPrefix("x-") })")
        }
        defer { origin.stop() }
        let harness = try harness { $0.limits.fieldCount = 50 }
        let recorder = Recorder()
        let fields = (0..<90).map { "X-\($0): a\r\n" }.joined()
        _ = harness.open(recorder, scheme: .https, port: origin.port, fields: fields)
        #expect(harness.run { recorder.hasEnded })
        #expect(recorder.text == "90")
    }

    @Test("A cancelled exchange resets its stream, and the connection goes on")
    func cancels() throws {
        let resets = Guarded<[HTTP2ErrorCode]>([])
        let origin = scripted { server, connection in
            while let event = server.next(on: connection) {
                if case .reset(_, let code) = event { resets.withLock { $0.append(code) } }
                guard case .end(let id) = event else { continue }
                if server.request(on: id)?.head.target == "/endless" { server.begin(id) } else { server.respond(id, body: "a") }
            }
        }
        defer { origin.stop() }
        let harness = try harness()
        let recorder = Recorder()
        let exchange = harness.open(recorder, scheme: .https, port: origin.port, path: "/endless")
        #expect(harness.run { recorder.status == 200 })
        exchange.cancel()
        #expect(harness.fetch(.https, port: origin.port).text == "a")
        #expect(resets.withLock { $0 } == [.cancel] && origin.connectionCount == 1)
        #expect(recorder.endCount == 0)
    }

    @Test("A server that answers no PING is given up, and an idempotent request is sent again")
    func findsDeadConnections() throws {
        let origin = scripted { server, connection in
            while let event = server.next(on: connection) {
                guard case .end(let id) = event else { continue }
                if connection.number == 1, server.request(on: id)?.head.target == "/dead" {
                    // As if the network were gone: nothing is read any more.
                    connection.pause(milliseconds: -1)
                    return
                }
                server.respond(id, body: "\(connection.number)")
            }
        }
        defer { origin.stop() }
        let harness = try harness()
        #expect(harness.fetch(.https, port: origin.port).text == "1")
        let recorder = Recorder()
        _ = harness.open(recorder, scheme: .https, port: origin.port, path: "/dead")
        for _ in 0..<5 { harness.loop.turn(waitingAtMost: 20) }
        harness.loop.advanceClock(milliseconds: HTTP2OriginConnection.quietMilliseconds)
        for _ in 0..<5 { harness.loop.turn(waitingAtMost: 20) }
        #expect(!recorder.hasEnded)
        harness.loop.advanceClock(milliseconds: HTTP2OriginConnection.pingMilliseconds)
        #expect(harness.run { recorder.hasEnded })
        #expect(recorder.isComplete && recorder.text == "2" && recorder.metrics.isRetried)
    }

    @Test("A server whose frames violate the protocol is left, and nothing of the response counts as whole")
    func leavesViolators() throws {
        let origin = scripted { server, connection in
            while let event = server.next(on: connection) {
                guard case .end(let id) = event else { continue }
                server.begin(id)
                server.send("part", on: id)
                server.flush(to: connection)
                // DATA for stream 0.
                connection.send(bytes: [0, 0, 1, 0, 0, 0, 0, 0, 0, 65])
            }
        }
        defer { origin.stop() }
        let harness = try harness()
        let recorder = harness.fetch(.https, port: origin.port)
        #expect(recorder.error == .incompleteBody && harness.budgets.statistics.connections == 0)
    }

    @Test("Interim responses are limited, and a head above the limit ends its stream alone")
    func limitsHeads() throws {
        let origin = origin { server, request in
            if request.head.target == "/long" {
                server.respond(request.stream, 200, [("x-long", String(repeating: "y", count: 5000))])
            } else if request.head.target == "/hints" {
                for _ in 0..<40 { try? server.session.submitInformational(request.stream, HTTP2Origin.head(103, [])) }
                server.respond(request.stream, body: "a")
            } else {
                server.respond(request.stream, body: "a")
            }
        }
        defer { origin.stop() }
        let harness = try harness { $0.http2Limits.headerListBytes = 4096 }
        #expect(harness.fetch(.https, port: origin.port, path: "/long").error == .malformedResponse(.headTooLarge))
        #expect(
            harness.fetch(.https, port: origin.port, path: "/hints").error == .malformedResponse(.tooManyInformationalResponses))
        #expect(harness.fetch(.https, port: origin.port, path: "/a").isComplete && origin.connectionCount == 1)
    }

    // MARK: Choice of the version

    @Test("A server without HTTP/2, and a transport that does not offer it, use HTTP/1.1", arguments: [true, false])
    func usesHTTP1(serverIsOld: Bool) throws {
        let identity = serverIsOld ? authority.identity() : authority.identity().choosingHTTP2()
        let origin = ScriptedOrigin.secure(identity)
        defer { origin.stop() }
        let harness = try harness { $0.offersHTTP2 = serverIsOld }
        let recorder = harness.fetch(.https, port: origin.port, path: "/a")
        #expect(recorder.isComplete && recorder.text == "/a" && recorder.metrics.version == .http11)
    }

    /// An origin that answers requests with HTTP/2, and accepts every switch of protocols with HTTP/1.1.
    private func switchingOrigin(choosesHTTP2: Bool = true) -> ScriptedOrigin {
        let identity = authority.identity()
        return ScriptedOrigin(identity: choosesHTTP2 ? identity.choosingHTTP2() : identity) { connection in
            if connection.isHTTP2 { return HTTP2Origin.serve(connection) { $0.respond($1.stream, body: "two") } }
            guard connection.readHead() != nil else { return }
            connection.send("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
            _ = connection.readToEnd()
        }
    }

    private func switchProtocols(_ harness: TransportHarness, port: UInt16) -> Recorder {
        let recorder = Recorder()
        let head = "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"
        _ = harness.transport.open(
            UpstreamRequest(
                origin: Origin(scheme: .https, host: "127.0.0.1", port: port), method: .get, head: Array(head.utf8),
                isForSwitch: true), delegate: recorder)
        #expect(harness.run { recorder.hasEnded })
        recorder.switched?.close()
        return recorder
    }

    @Test("A switch of protocols gets a connection of its own in HTTP/1.1")
    func switches() throws {
        let origin = switchingOrigin()
        defer { origin.stop() }
        let harness = try harness()
        #expect(harness.fetch(.https, port: origin.port).text == "two")
        #expect(switchProtocols(harness, port: origin.port).status == 101)
        #expect(harness.fetch(.https, port: origin.port).text == "two" && origin.connectionCount == 2)
    }

    @Test(
        "A switch of protocols uses a connection that is being opened, unless the server chooses HTTP/2 for it",
        arguments: [false, true])
    func switchesOnPreparedConnection(choosesHTTP2: Bool) throws {
        let origin = switchingOrigin(choosesHTTP2: choosesHTTP2)
        defer { origin.stop() }
        let harness = try harness()
        harness.transport.prepare(Origin(scheme: .https, host: "127.0.0.1", port: origin.port), via: "")
        #expect(switchProtocols(harness, port: origin.port).status == 101)
        #expect(origin.connectionCount == (choosesHTTP2 ? 2 : 1))
        guard choosesHTTP2 else { return #expect(harness.transport.isQuiet) }
        // The connection with HTTP/2 serves the next request.
        #expect(harness.fetch(.https, port: origin.port).text == "two" && origin.connectionCount == 2)
    }

    @Test("A server known for HTTP/2 without TLS gets the preface at once")
    func usesPriorKnowledge() throws {
        let origin = ScriptedOrigin { connection in HTTP2Origin.serve(connection, answer: Self.answersPath) }
        defer { origin.stop() }
        let harness = try harness()
        for number in 0..<2 {
            let recorder = Recorder()
            var request = UpstreamRequest(
                origin: Origin(scheme: .http, host: "127.0.0.1", port: origin.port), method: .get,
                head: Array("GET /\(number) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n".utf8))
            request.isForKnownHTTP2 = true
            _ = harness.transport.open(request, delegate: recorder)
            #expect(harness.run { recorder.hasEnded })
            #expect(recorder.text == "answer to /\(number)" && recorder.metrics.version == .http2)
        }
        #expect(origin.connectionCount == 1)
    }

    @Test("A connection that is opened ahead of a request is used for it")
    func preconnects() throws {
        let origin = origin(answer: Self.answersPath)
        defer { origin.stop() }
        let harness = try harness()
        harness.transport.prepare(Origin(scheme: .https, host: "127.0.0.1", port: origin.port), via: "")
        let recorders = (0..<2).map { _ in Recorder() }
        for recorder in recorders { _ = harness.open(recorder, scheme: .https, port: origin.port, path: "/a") }
        #expect(harness.run { recorders.allSatisfy(\.hasEnded) })
        #expect(recorders.allSatisfy { $0.isComplete })
        harness.transport.prepare(Origin(scheme: .https, host: "127.0.0.1", port: origin.port), via: "")
        #expect(harness.fetch(.https, port: origin.port, path: "/b").metrics.isConnectionReused)
    }
}

extension Fields {
    fileprivate func value(_ name: String) -> String? {
        value(ofAllLinesNamed: Array(name.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }
}
