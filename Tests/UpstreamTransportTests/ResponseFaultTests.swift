import HTTPMessage
import HTTPWire
import TestSupport
import Testing

@testable import UpstreamTransport

@Suite("Transport: malformed and incomplete responses (T39, RFC 9112 §8)")
struct ResponseFaultTests {
    /// One exchange with an origin that sends these bytes and closes, by a reset if asked.
    private func exchange(_ bytes: String, reset: Bool = false) throws -> (Recorder, TransportHarness) {
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.send(bytes)
            if reset { connection.resetOnClose() }
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        return (harness.fetch(port: origin.port), harness)
    }

    @Test(
        "A malformed response fails with its own error, and its connection is closed",
        arguments: [
            ("SSH-2.0-OpenSSH\r\n", TransportError.malformedResponse(.notHTTP)),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
                .malformedResponse(.conflictingContentLengths)
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                .malformedResponse(.bothLengths)
            ),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", .malformedBody(.malformedChunkSize)),
            ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", .malformedResponse(.unrequestedSwitchingProtocols)),
            ("HTTP/1.1 200 OK\r\nContent-Le", .closedInHead),
            ("", .closedBeforeResponse),
        ])
    func malformed(bytes: String, error: TransportError) throws {
        let (recorder, harness) = try exchange(bytes)
        #expect(recorder.error == error)
        #expect(recorder.endCount == 1)
        #expect(harness.transport.statistics.connections == 0)
        #expect(harness.budgets.statistics.connections == 0)
    }

    @Test(
        "A truncated response is reported as incomplete",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
        ], [false, true])
    func incomplete(bytes: String, reset: Bool) throws {
        let (recorder, _) = try exchange(bytes, reset: reset)
        // A reset can overtake earlier bytes, even the head.
        let isIncomplete = recorder.error == .incompleteBody || (reset && recorder.error == .closedBeforeResponse)
        #expect(isIncomplete)
        #expect(recorder.trailers == nil)
    }

    @Test("A body without a length is complete after an orderly close and incomplete after a reset")
    func resetUntilClose() throws {
        let (complete, _) = try exchange("HTTP/1.0 200 OK\r\n\r\nhello")
        #expect(complete.isComplete)
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.send("HTTP/1.0 200 OK\r\n\r\nhello")
            // The client sends this byte after it has read the body, so the reset cannot overtake the body.
            _ = connection.read(count: 1)
            connection.resetOnClose()
        }
        defer { origin.stop() }
        let harness = try TransportHarness()
        let recorder = Recorder()
        recorder.onBody = { exchange in _ = exchange.sendBody([1].span) }
        _ = harness.open(recorder, port: origin.port, method: .post, body: .length(2))
        harness.run { recorder.hasEnded }
        #expect(recorder.text == "hello")
        #expect(recorder.error == .incompleteBody)
    }

    @Test("Eight informational responses are passed on; a ninth fails the exchange", arguments: [8, 9])
    func informationalFlood(count: Int) throws {
        let flood = String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: count)
        let (recorder, _) = try exchange(flood + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(recorder.informational.count == 8)
        #expect(recorder.error == (count == 8 ? nil : .malformedResponse(.tooManyInformationalResponses)))
    }
}
