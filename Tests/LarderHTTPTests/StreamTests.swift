import HTTPSerialization
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: lines, elements and event streams")
struct StreamTests {
    struct Item: Codable, Equatable, Sendable {
        let id: Int
    }

    /// Sends each text in a packet of its own, as far as the network keeps them apart.
    private static func origin(_ texts: [String], fields: String = "") -> ScriptedOrigin {
        ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.send("HTTP/1.1 200 OK\r\n\(fields)Connection: close\r\n\r\n")
            for text in texts { connection.send(text) }
        }
    }

    private func body(_ origin: ScriptedOrigin) async throws -> ResponseBody {
        try await HTTPSession.plain().open(SessionRequest(.get, origin.uri())).body
    }

    @Test("A body is read as lines, and a line above the limit is an error after the lines before it")
    func readsLines() async throws {
        let origin = Self.origin(["first\r\nsec", "ond\n", "\nlast one is long"])
        defer { origin.stop() }
        var limits = StreamLimits()
        limits.lineLength = 6
        var lines: [String] = []
        let error = try await HTTPSession.failure {
            for try await line in try await body(origin).lines(limits: limits) { lines.append(line) }
        }
        #expect(lines == ["first", "second", ""] && error.code == .bodyTooLarge)
    }

    @Test("Each line of JSON Lines is an element; one that does not fit is an error, and the next one is read")
    func readsElements() async throws {
        let origin = Self.origin(["{\"id\":1}\n{\"id\"", ":2}\r\n\n{\"id\":\"x\"}\nnull,\n{\"id\":3}"])
        defer { origin.stop() }
        var elements = try await body(origin).elements(of: Item.self).makeAsyncIterator()
        #expect(try await elements.next() == Item(id: 1))
        #expect(try await elements.next() == Item(id: 2))
        #expect(try await HTTPSession.failure { try await elements.next() }.code == .otherType)
        #expect(try await HTTPSession.failure { try await elements.next() }.code == .malformedJSON)
        #expect(try await elements.next() == Item(id: 3))
        #expect(try await elements.next() == nil)
    }

    @Test("The elements of an array arrive before the array has ended", arguments: [true, false])
    func readsArrays(isWhole: Bool) async throws {
        let gate = Gate()
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[{\"id\":1}, ")
            gate.wait()
            connection.send(isWhole ? "{\"id\":2}]" : "{\"id\":2}")
        }
        defer { origin.stop() }
        var elements = try await body(origin).elements(of: Item.self, in: .array).makeAsyncIterator()
        #expect(try await elements.next() == Item(id: 1))
        gate.open()
        if isWhole {
            #expect(try await elements.next() == Item(id: 2))
            #expect(try await elements.next() == nil)
        } else {
            #expect(try await HTTPSession.failure { try await elements.next() }.code == .malformedJSON)
        }
    }

    private static let quick: ServerSentEventOptions = {
        var options = ServerSentEventOptions()
        options.retryDelay = .milliseconds(1)
        return options
    }()

    @Test("An event stream connects again with Last-Event-ID, until the server answers 204")
    func connectsAgain() async throws {
        let answers = [
            "200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\nid: 1\ndata: a\n\n: no event\n\n",
            "200 OK\r\nContent-Type: text/event-stream;charset=utf-8\r\nContent-Length: 100\r\n\r\nevent: add\nid: 2\nretry: 2\ndata: b\n\ndata: lost",
            "", "204 No Content\r\n\r\n",
        ]
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.send(
                answers[min(connection.number, answers.count) - 1].isEmpty ? "" : "HTTP/1.1 " + answers[connection.number - 1])
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain { $0.retries = .never }
        var events: [ServerSentEvent] = []
        for try await event in session.events(SessionRequest(.get, origin.uri("/feed")), options: Self.quick) {
            events.append(event)
        }
        #expect(
            events.map(\.data) == ["a", "b"] && events.map(\.type) == ["message", "add"]
                && events.map(\.lastEventID) == ["1", "2"])
        let requests = origin.requestHeads.map { OriginRequest(head: $0) }
        #expect(requests.map { $0["Last-Event-ID"] } == [nil, "1", "2", "2"])
        #expect(requests[0]["Accept"] == "text/event-stream" && requests[0]["Cache-Control"] == "no-store")
    }

    @Test(
        "An answer of another status or type ends the stream with an error, without another connection",
        arguments: [
            ("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", SessionError.Code.unacceptableStatus),
            ("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n", .unacceptableContentType),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", .unacceptableContentType),
        ])
    func rejects(answer: String, code: SessionError.Code) async throws {
        let origin = ScriptedOrigin { connection in while connection.readHead() != nil { connection.send(answer) } }
        defer { origin.stop() }
        let session = try HTTPSession.plain { $0.retries = .never }
        var events = session.events(SessionRequest(.get, origin.uri()), options: Self.quick).makeAsyncIterator()
        let error = try await HTTPSession.failure { try await events.next() }
        #expect(error.code == code && error.response != nil && origin.requestHeads.count == 1)
        #expect(try await events.next() == nil)
    }

    @Test("Connections that bring no event are limited, and the count begins again with an event")
    func givesUp() async throws {
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            let hasEvent = connection.number == 3
            connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
                    + (hasEvent ? "data: a\n\n" : ""))
        }
        defer { origin.stop() }
        var options = Self.quick
        options.fruitlessConnections = 2
        options.longestRetryDelay = .milliseconds(2)
        let session = try HTTPSession.plain { $0.retries = .never }
        var events = session.events(SessionRequest(.get, origin.uri()), options: options).makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
        #expect(try await HTTPSession.failure { try await events.next() }.code == .incompleteResponse)
        #expect(origin.connectionCount == 6)
    }

    @Test("A POST is not sent again: its stream ends with the response")
    func sendsOnce() async throws {
        let origin = ScriptedOrigin.answering { request, connection in
            guard connection.readBody(of: request) == [1] else { return false }
            return connection.respond(fields: "Content-Type: text/event-stream\r\n", body: "data: a\n\ndata: b\n\n")
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        var data: [String] = []
        for try await event in session.events(SessionRequest(.post, origin.uri(), body: .octets([1])), options: Self.quick) {
            data.append(event.data)
        }
        #expect(data == ["a", "b"] && origin.connectionCount == 1)
    }
}
