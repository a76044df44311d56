import CLarderLinux
import Glibc
import HTTPMessage
import HTTPWire
import TestSupport
import Testing

@testable import UpstreamTransport

@Suite("Transport: request and response bodies")
struct BodyTests {
    @Test("A body of known length is sent unchanged, on a new and on a pooled connection")
    func length() throws {
        let origin = ScriptedOrigin { connection in
            while connection.readHead() != nil {
                guard let body = connection.read(count: 11) else { return }
                connection.respond(body: String(decoding: body, as: UTF8.self))
            }
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        for _ in 0..<2 {
            let recorder = Recorder()
            let exchange = harness.open(
                recorder, port: origin.port, method: .post, fields: "Content-Length: 11\r\n", body: .length(11))
            _ = exchange.sendBody(Array("hello ".utf8).span)
            _ = exchange.sendBody(Array("world".utf8).span)
            exchange.endBody()
            harness.run { recorder.hasEnded }
            #expect(recorder.text == "hello world")
            #expect(recorder.metrics.bytesSent > 11)
        }
        #expect(origin.connectionCount == 1)
    }

    @Test("A body of unknown length is sent in chunks, with its trailers")
    func chunked() throws {
        let expected = "5\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 11\r\n\r\n"
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            let body = connection.read(count: expected.utf8.count) ?? []
            connection.respond(body: String(decoding: body, as: UTF8.self))
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = Recorder()
        let exchange = harness.open(
            recorder, port: origin.port, method: .put, fields: "Transfer-Encoding: chunked\r\n", body: .chunked)
        _ = exchange.sendBody(Array("hello".utf8).span)
        _ = exchange.sendBody(Array(" world".utf8).span)
        var trailers = Fields()
        trailers.append("X-Sum", "11")
        exchange.endBody(trailers: trailers)
        harness.run { recorder.hasEnded }
        #expect(recorder.text == expected)
    }

    @Test("A large upload to an origin that reads slowly is buffered only in part: the caller has to wait")
    func uploadBackPressure() throws {
        let total = 8 << 20
        let gate = Gate()
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            gate.wait()
            let body = connection.read(count: total)
            connection.respond(body: "\(body?.allSatisfy { $0 == 0x61 } == true)")
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = Recorder()
        let piece = [UInt8](repeating: 0x61, count: 32 * 1024)
        var left = total
        let send: (OriginExchange) -> Void = { exchange in
            while left > 0 {
                left -= piece.count
                if !exchange.sendBody(piece.span) { return }
            }
        }
        recorder.onReady = send
        send(harness.open(recorder, port: origin.port, method: .post, body: .length(UInt64(total))))
        var turns = 0
        harness.run {
            turns += 1
            return turns > 20
        }
        #expect(left > 0, "the caller was told to wait")
        gate.open()
        harness.run { recorder.hasEnded }
        #expect(recorder.text == "true")
        #expect(recorder.readyCount > 0)
    }

    @Test("A response that arrives before the whole request is sent is delivered, and the connection is not reused")
    func earlyResponse() throws {
        let gate = Gate()
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.respond("413 Content Too Large", body: "too large")
            gate.wait()
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = Recorder()
        let exchange = harness.open(recorder, port: origin.port, method: .post, body: .length(1000))
        _ = exchange.sendBody([1, 2, 3].span)
        harness.run { recorder.hasEnded }
        gate.open()
        #expect(recorder.status == 413)
        #expect(recorder.text == "too large")
        #expect(harness.transport.statistics.connections == 0)
        #expect(!exchange.isActive)
        _ = exchange.sendBody([4].span)
    }

    @Test("A final response is read even if the origin then closes before the whole body is sent")
    func answerThenClose() throws {
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.respond("403 Forbidden", fields: "Connection: close\r\n", body: "no")
            connection.shutDownSending()
            // Reads and discards the body: an early close would become a reset, which can overtake the response.
            _ = connection.readToEnd()
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = Recorder()
        let piece = [UInt8](repeating: 0x61, count: 64 * 1024)
        let exchange = harness.open(recorder, port: origin.port, method: .post, body: .chunked)
        recorder.onReady = { _ = $0.sendBody(piece.span) }
        _ = exchange.sendBody(piece.span)
        harness.run { recorder.hasEnded }
        #expect(recorder.status == 403)
        #expect(recorder.isComplete)
    }

    @Test("A request body that ends before its announced length fails the exchange")
    func tooShort() throws {
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            _ = connection.readToEnd()
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = Recorder()
        let exchange = harness.open(recorder, port: origin.port, method: .post, body: .length(10))
        _ = exchange.sendBody([1].span)
        exchange.endBody()
        harness.run { recorder.hasEnded }
        #expect(recorder.error == .requestBodyTooShort)
        #expect(harness.budgets.statistics == (0, 0))
    }

    @Test("A large download is delivered in large pieces")
    func largeReads() throws {
        let total = 16 << 20
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
            connection.send(bytes: [UInt8](repeating: 0x62, count: total))
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = harness.fetch(port: origin.port)
        #expect(recorder.isComplete)
        #expect(recorder.body.count == total)
        #expect(recorder.pieces.allSatisfy { $0 <= 64 * 1024 })
        #expect(recorder.pieces.count < 16 * (total / (64 * 1024)))
    }

    @Test("A paused exchange delivers no further piece of the body until it is resumed")
    func downloadBackPressure() throws {
        let total = 32 << 20
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
            connection.send(bytes: [UInt8](repeating: 0x62, count: total))
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = Recorder()
        recorder.onBody = { $0.pauseReading() }
        let exchange = harness.open(recorder, port: origin.port)
        harness.run { !recorder.body.isEmpty }
        let received = recorder.body.count
        for _ in 0..<5 { harness.loop.turn(waitingAtMost: 5) }
        #expect(recorder.body.count == received)
        #expect(received <= 64 * 1024)
        recorder.onBody = { _ in }
        exchange.resumeReading()
        harness.run { recorder.hasEnded }
        #expect(recorder.isComplete)
        #expect(recorder.body.count == total)
    }

    @Test(
        "A diverted body goes into the pipe whole; the connection is kept unless further bytes follow the response",
        arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
    func diverts(behind: String) throws {
        let body = PatternedBody(length: 3 << 20)
        let origin = ScriptedOrigin { connection in
            while connection.readHead() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.length)\r\n\r\n")
                connection.send(bytes: body.bytes(0..<body.length) + Array(behind.utf8))
            }
        }
        defer { origin.stop() }
        var ends: [Int32] = [-1, -1]
        try #require(pipe2(&ends, O_NONBLOCK | O_CLOEXEC) == 0)
        defer { for end in ends { close(end) } }
        let harness = try TransportHarness()
        let recorder = Recorder()
        recorder.onHead = { $0.divertBody(into: ends[1], atMost: 16 * 1024) }
        recorder.onDiversion = { _, count in
            var piece = [UInt8](repeating: 0, count: count)
            #expect(read(ends[0], &piece, count) == count)
            recorder.body += piece
        }
        _ = harness.open(recorder, port: origin.port)
        harness.run { recorder.hasEnded }
        #expect(recorder.isComplete)
        #expect(recorder.body.count == body.length)
        #expect(recorder.body.withUnsafeBytes { body.matches($0, at: 0) })
        let kept = behind.isEmpty ? 1 : 0
        #expect(harness.run { harness.transport.statistics == (kept, kept, 0) })
    }

    @Test("A reset ends a paused exchange, too")
    func resetWhilePaused() throws {
        let gate = Gate()
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
            gate.wait()
            connection.resetOnClose()
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = Recorder()
        recorder.onBody = { $0.pauseReading() }
        _ = harness.open(recorder, port: origin.port)
        harness.run { !recorder.body.isEmpty }
        gate.open()
        #expect(harness.run { recorder.hasEnded })
        #expect(recorder.error == .incompleteBody)
    }
}
