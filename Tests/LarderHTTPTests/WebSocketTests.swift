import HTTP2Wire
import HTTPMessage
import ServerTrust
import TestSupport
import Testing
import WebSocketWire

@testable import LarderHTTP

@Suite("HTTPSession: WebSocket (RFC 6455)")
struct WebSocketTests {
    private let events = ServerEvents()

    private func origin(_ script: @escaping @Sendable (ServerSocket, borrowing OriginConnection) -> Void) -> ScriptedOrigin {
        ScriptedOrigin { connection in
            if let socket = ServerSocket.accept(connection) { script(socket, connection) }
        }
    }

    private func echoing() -> ScriptedOrigin { origin { [events] socket, connection in events.end(socket.echo(connection)) } }

    private func target(_ origin: ScriptedOrigin) -> String { "ws://127.0.0.1:\(origin.port)/chat?room=1" }

    private func session(_ change: (inout SessionConfiguration) -> Void = { _ in }) throws -> HTTPSession {
        var configuration = SessionConfiguration()
        configuration.retries = .never
        change(&configuration)
        return try HTTPSession(configuration: configuration)
    }

    // MARK: Messages

    @Test("Texts and bytes of every length are echoed, and closing exchanges Close frames")
    func echoes() async throws {
        let origin = echoing()
        let session = try session()
        let socket = try await session.webSocket(target(origin))
        #expect(session.transfers().map(\.phase) == [.receiving])
        var messages = socket.makeAsyncIterator()
        try await socket.send("grüße")
        #expect(try await messages.next() == .text("grüße"))
        for count in [0, 1, 125, 126, 65_535, 65_536, 3_000_000] {
            let bytes = PatternBytes.make(count, seed: 1)
            try await socket.send(.binary(bytes))
            #expect(try await messages.next() == .binary(bytes))
        }
        #expect(
            await socket.close(.normal, reason: "done")
                == WebSocket.Closing(WebSocketClosing(code: 1000, reason: Array("done".utf8))))
        #expect(try await messages.next() == nil)
        #expect(events.wait().last == .close(WebSocketClosing(code: 1000, reason: Array("done".utf8))))
        #expect(session.transfers().isEmpty)
        let error = try await HTTPSession.failure { try await socket.send("late") }
        #expect(error.code == .webSocketClosed)
        let request = OriginRequest(head: origin.requestHeads[0])
        #expect(request.method == "GET" && request.target == "/chat?room=1" && request["Sec-WebSocket-Version"] == "13")
        #expect(request["Connection"] == "Upgrade" && request["Sec-WebSocket-Key"]?.utf8.count == 24)
        await session.shutdown(.cancel)
        origin.stop()
    }

    @Test(
        "Compression is negotiated, with and without context and with smaller windows, and its messages arrive",
        arguments: [
            "", "; server_no_context_takeover", "; client_no_context_takeover",
            "; server_max_window_bits=9; client_max_window_bits=10",
            "; client_max_window_bits=8",
        ])
    func compresses(parameters: String) async throws {
        let value = Array("permessage-deflate\(parameters)".utf8)
        let agreed = try #require(try DeflateOffer.accepted(value.span, of: DeflateOffer()))
        let origin = ScriptedOrigin { [events] connection in
            let line = "Sec-WebSocket-Extensions: permessage-deflate\(parameters)\r\n"
            let socket = ServerSocket.accept(connection, fields: line, compression: agreed, fragmentLength: 100)
            events.end(socket?.echo(connection) ?? [])
        }
        let session = try session()
        let socket = try await session.webSocket(target(origin))
        #expect(socket.isCompressed && origin.requestHeads[0].contains("permessage-deflate; client_max_window_bits\r\n"))
        var messages = socket.makeAsyncIterator()
        let long = String(repeating: "the same words and ", count: 5000)
        for text in ["Hello", "Hello", "", long, long] {
            try await socket.send(text)
            #expect(try await messages.next() == .text(text))
        }
        try await socket.send(.text("secret"), compresses: false)
        #expect(try await messages.next() == .text("secret"))
        await socket.close()
        _ = events.wait()
        origin.stop()
    }

    @Test("The server's fragments are joined, and ours have the length of the options")
    func fragments() async throws {
        let origin = origin { socket, connection in
            connection.send(bytes: [0x01, 0x02, 0x41, 0x42, 0x89, 0x00, 0x80, 0x01, 0x43])
            // The pong, and three frames of a message.
            _ = socket.next(connection)
            _ = socket.next(connection)
            connection.send(bytes: [0x88, 0x00])
            _ = connection.readToEnd()
        }
        var options = WebSocketOptions()
        options.fragmentLength = 2
        let socket = try await session().webSocket(target(origin), options: options)
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == .text("ABC"))
        try await socket.send("12345")
        #expect(try await messages.next() == nil)
        #expect(socket.closing == WebSocket.Closing(nil) && socket.closing?.code == .noStatus)
        origin.stop()
    }

    @Test("A subprotocol is chosen from those that were offered")
    func choosesSubprotocol() async throws {
        let origin = ScriptedOrigin { connection in
            _ = ServerSocket.accept(connection, fields: "Sec-WebSocket-Protocol: v2\r\nX-Server: 7\r\n")?.echo(connection)
        }
        var options = WebSocketOptions()
        options.subprotocols = ["v3", "v2"]
        options.compression = nil
        let socket = try await session().webSocket(target(origin), options: options)
        #expect(socket.subprotocol == "v2" && socket.fields["X-Server"] == "7" && !socket.isCompressed)
        let request = OriginRequest(head: origin.requestHeads[0])
        #expect(request["Sec-WebSocket-Protocol"] == "v3, v2" && request["Sec-WebSocket-Extensions"] == nil)
        await socket.close()
        origin.stop()
    }

    @Test("Many tasks send at once, and no message is mixed with another")
    func sendsAtOnce() async throws {
        let origin = echoing()
        let socket = try await session().webSocket(target(origin))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask { try await socket.send(.binary([UInt8](repeating: UInt8(number), count: 10_000))) }
            }
            try await group.waitForAll()
        }
        var messages = socket.makeAsyncIterator()
        var seen: Set<UInt8> = []
        for _ in 0..<50 {
            guard case .binary(let bytes) = try await messages.next() else { break }
            #expect(bytes.count == 10_000 && Set(bytes).count == 1)
            seen.insert(bytes[0])
        }
        #expect(seen.count == 50)
        await socket.close()
        origin.stop()
    }

    @Test("Both sides send much at once, and neither waits for the other: the server reads only after it has sent everything")
    func sendsBothWays() async throws {
        let message = [UInt8](repeating: 7, count: 1 << 20)
        let origin = origin { [events] socket, connection in
            for _ in 0..<20 { socket.send(.binary(message), connection) }
            socket.control(.ping, [1], connection)
            events.end(socket.echo(connection).filter { $0 == .pong([1]) || $0 == .message(.binary(message)) })
        }
        let socket = try await session().webSocket(target(origin))
        let sending = Task { for _ in 0..<20 { try await socket.send(.binary(message)) } }
        var messages = socket.makeAsyncIterator()
        for _ in 0..<40 { #expect(try await messages.next() == .binary(message)) }
        try await sending.value
        await socket.close()
        #expect(events.wait().count == 21)
        origin.stop()
    }

    // MARK: Pings and back-pressure

    @Test("The session answers pings, and a ping of ours waits for its pong")
    func pings() async throws {
        let origin = origin { [events] socket, connection in
            socket.control(.ping, [7, 8], connection)
            events.end(socket.echo(connection))
        }
        let socket = try await session().webSocket(target(origin))
        try await socket.ping()
        try await socket.ping()
        await socket.close()
        let received = events.wait()
        // The first ping of ours may leave before the server's ping has arrived.
        #expect(received.contains(.pong([7, 8])) && received.count == 4, "\(received)")
        origin.stop()
    }

    @Test("A server that stops to answer pings loses the connection")
    func keepsAlive() async throws {
        let origin = origin { _, connection in _ = connection.readToEnd() }
        var options = WebSocketOptions()
        options.pingInterval = .milliseconds(5)
        let socket = try await session().webSocket(target(origin), options: options)
        let error = try await HTTPSession.failure { for try await _ in socket {} }
        #expect(error.code == .timeout && error.phase == .idle)
        origin.stop()
    }

    @Test("A server that answers pings keeps the connection")
    func staysAlive() async throws {
        let enough = Gate()
        let origin = origin { [events] socket, connection in
            var count = 0
            while case .ping(let payload) = socket.next(connection) {
                socket.control(.pong, payload, connection)
                count += 1
                if count == 5 { enough.open() }
            }
            events.end([])
        }
        var options = WebSocketOptions()
        options.pingInterval = .milliseconds(5)
        options.closeTimeout = .milliseconds(1)
        let socket = try await session().webSocket(target(origin), options: options)
        #expect(enough.wait() && socket.closing == nil)
        await socket.close()
        _ = events.wait()
        origin.stop()
    }

    @Test("Messages that no task reads stop the reading, and all of them arrive later in their order")
    func pausesReading() async throws {
        let count = 400
        let origin = origin { socket, connection in
            for number in 0..<count {
                socket.send(.binary([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 50_000)), connection)
            }
            socket.close(1000, connection)
            _ = connection.readToEnd()
        }
        var options = WebSocketOptions()
        options.limits.unreadLength = 120_000
        let socket = try await session().webSocket(target(origin), options: options)
        try eventually { socket.unreadLength >= 120_000 }
        #expect(socket.unreadLength < 200_000)
        var number = 0
        for try await message in socket {
            #expect(message == .binary([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 50_000)))
            number += 1
        }
        #expect(number == count && socket.closing?.code == .normal)
        origin.stop()
    }

    // MARK: Ends

    @Test("The server's Close frame ends the sequence, and is answered with its code")
    func isClosed() async throws {
        let origin = origin { [events] socket, connection in
            socket.send("last", connection)
            socket.close(1001, reason: "restart", connection)
            events.end([socket.next(connection)].compactMap { $0 })
        }
        let socket = try await session().webSocket(target(origin))
        var texts: [WebSocket.Message] = []
        for try await message in socket { texts.append(message) }
        #expect(texts == [.text("last")] && socket.closing?.code == .goingAway && socket.closing?.reason == "restart")
        #expect(events.wait() == [.close(WebSocketClosing(code: 1001))])
        let error = try await HTTPSession.failure { try await socket.ping() }
        #expect(error.code == .webSocketClosed)
        origin.stop()
    }

    @Test("A connection that ends without a Close frame is an error, after the messages before it")
    func isLost() async throws {
        let origin = origin { socket, connection in socket.send("last", connection) }
        let socket = try await session().webSocket(target(origin))
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == .text("last"))
        let error = try await HTTPSession.failure { try await messages.next() }
        #expect(error.code == .connectionTerminated)
        origin.stop()
    }

    struct Violation: Sendable {
        let bytes: [UInt8]
        let code: SessionError.Code
        let closing: UInt16
    }

    @Test(
        "A violation and a message above the limit end the connection with the code for it",
        arguments: [
            Violation(bytes: [0x83, 0x00], code: .webSocketViolation, closing: 1002),
            Violation(bytes: [0xC1, 0x00], code: .webSocketViolation, closing: 1002),
            Violation(bytes: [0x81, 0x81, 0, 0, 0, 0, 65], code: .webSocketViolation, closing: 1002),
            Violation(bytes: [0x81, 0x01, 0xFF], code: .webSocketViolation, closing: 1007),
            Violation(bytes: [0x88, 0x02, 0x03, 0xED], code: .webSocketViolation, closing: 1002),
            Violation(bytes: [0x82, 0x7E, 0x04, 0x01], code: .bodyTooLarge, closing: 1009),
        ])
    func rejects(violation: Violation) async throws {
        let origin = origin { [events] socket, connection in
            connection.send(bytes: violation.bytes)
            events.end([socket.next(connection), socket.next(connection)].compactMap { $0 })
        }
        var options = WebSocketOptions()
        options.compression = nil
        options.limits.messageLength = 1024
        let socket = try await session().webSocket(target(origin), options: options)
        let error = try await HTTPSession.failure { for try await _ in socket {} }
        #expect(error.code == violation.code)
        #expect(events.wait() == [.close(WebSocketClosing(code: violation.closing))])
        origin.stop()
    }

    @Test("A server that does not answer the Close frame is waited for no longer than the timeout")
    func closesAlone() async throws {
        let origin = origin { [events] socket, connection in
            events.end([socket.next(connection)].compactMap { $0 })
            _ = connection.readToEnd()
        }
        var options = WebSocketOptions()
        options.closeTimeout = .milliseconds(5)
        let socket = try await session().webSocket(target(origin), options: options)
        #expect(await socket.close(.goingAway, reason: String(repeating: "é", count: 100)) == nil)
        // The reason is cut off between two characters.
        #expect(events.wait() == [.close(WebSocketClosing(code: 1001, reason: Array(String(repeating: "é", count: 61).utf8)))])
        origin.stop()
    }

    @Test("Releasing the socket closes the connection")
    func closesWhenReleased() async throws {
        let origin = echoing()
        let session = try session()
        _ = try await session.webSocket(target(origin))
        #expect(events.wait() == [.close(WebSocketClosing(code: 1001))])
        try await until { session.transfers().isEmpty }
        origin.stop()
    }

    @Test("A cancelled reader leaves the socket open; cancelling the transfer ends it")
    func cancels() async throws {
        let origin = echoing()
        let session = try session()
        let transfer = Transfer()
        let socket = try await session.webSocket(target(origin), as: transfer)
        let reader = Task { try await HTTPSession.failure { for try await _ in socket {} } }
        reader.cancel()
        #expect(try await reader.value.code == .cancelled)
        try await socket.send("still there")
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == .text("still there"))
        transfer.cancel()
        #expect(try await HTTPSession.failure { try await messages.next() }.code == .cancelled)
        #expect(session.transfers().isEmpty)
        _ = events.wait()
        origin.stop()
    }

    @Test("The end of the session ends its sockets")
    func endsWithSession() async throws {
        let origin = echoing()
        let session = try session()
        let socket = try await session.webSocket(target(origin))
        await session.shutdown(.cancel)
        #expect(try await HTTPSession.failure { for try await _ in socket {} }.code == .cancelled)
        _ = events.wait()
        origin.stop()
    }
}
