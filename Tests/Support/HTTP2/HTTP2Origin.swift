import HTTP2Wire
import HTTPMessage

/// The server's side of one connection with HTTP/2, used by a script of `ScriptedOrigin` with blocking calls.
package final class HTTP2Origin {
    /// A request, as far as it has arrived.
    package struct Request {
        package let stream: HTTP2StreamID
        package let head: OriginRequest
        package var content: [UInt8] = []
        package var trailers: [String] = []
        package var hasEnded = false
    }

    package enum Event {
        /// A head; `request(on:)` has it.
        case head(HTTP2StreamID)
        case content(HTTP2StreamID, [UInt8])
        case end(HTTP2StreamID)
        case reset(HTTP2StreamID, HTTP2ErrorCode)
        case ping
    }

    package let session: HTTP2Session
    private var requests: [HTTP2StreamID: Request] = [:]
    private var events: [Event] = []
    /// Content that the client's windows do not permit yet, with the trailers behind it.
    private var unsent: [HTTP2StreamID: (content: ArraySlice<UInt8>, trailers: [(String, String)])] = [:]

    package init(limits: HTTP2Limits = HTTP2Limits(), permitsExtendedConnect: Bool = false) {
        guard let session = HTTP2Session(role: .server, limits: limits, permitsExtendedConnect: permitsExtendedConnect) else {
            preconditionFailure("no memory")
        }
        self.session = session
    }

    /// Answers every request when it is complete, until the client closes.
    package static func serve(
        _ connection: borrowing OriginConnection, limits: HTTP2Limits = HTTP2Limits(),
        answer: (HTTP2Origin, Request) -> Void
    ) {
        let server = HTTP2Origin(limits: limits)
        while let event = server.next(on: connection) {
            if case .end(let id) = event, let request = server.request(on: id) { answer(server, request) }
            if !server.flush(to: connection) { return }
        }
    }

    package func request(on stream: HTTP2StreamID) -> Request? { requests[stream] }

    /// The next event, after sending what is due; `nil` when the client closes.
    package func next(on connection: borrowing OriginConnection) -> Event? {
        while events.isEmpty {
            guard flush(to: connection), let bytes = connection.readSome() else { return nil }
            bytes.withUnsafeBytes { session.receive($0, at: .zero) }
            while let event = session.nextEvent() {
                note(event, of: bytes)
                if case .requestHead(let id, _, _, _) = event, let request = requests[id] {
                    connection.note(head: request.head.head)
                }
            }
            if session.isFinished { return nil }
        }
        return events.removeFirst()
    }

    /// - Returns: `false` if the client accepts no more.
    @discardableResult
    package func flush(to connection: borrowing OriginConnection) -> Bool {
        while true {
            var output: [UInt8] = []
            session.outgoing(into: &output, limit: 1 << 20)
            while let event = session.nextEvent() { note(event, of: []) }
            if output.isEmpty { return true }
            if !connection.send(bytes: output) { return false }
        }
    }

    private func note(_ event: HTTP2Event, of bytes: [UInt8]) {
        switch event {
        case .requestHead(let id, let head, _, let endStream):
            requests[id] = Request(stream: id, head: OriginRequest(head: Self.text(of: head)))
            events.append(.head(id))
            if endStream { end(id) }
        case .data(let id, let range):
            requests[id]?.content += bytes[range]
            session.consumed(id, range.count)
            events.append(.content(id, Array(bytes[range])))
        case .trailers(let id, let trailers):
            requests[id]?.trailers = trailers.lines.map { "\(trailers.text(of: $0.name)): \(trailers.text(of: $0.value))" }
        case .end(let id): end(id)
        case .reset(let id, let code, _):
            requests[id] = nil
            unsent[id] = nil
            events.append(.reset(id, code))
        case .windowOpened(let id):
            guard let rest = unsent.removeValue(forKey: id) else { return }
            send(rest.content, trailers: rest.trailers, on: id)
        default: break
        }
    }

    private func end(_ id: HTTP2StreamID) {
        requests[id]?.hasEnded = true
        events.append(.end(id))
    }

    /// The request as a head in HTTP/1.1: the path, and Host for the authority.
    private static func text(of head: RequestHead) -> String {
        let fields = head.fields
        let target = head.target
        let path = fields.text(of: target.path) + fields.text(of: target.query)
        let lines = fields.lines.map { "\(fields.text(of: $0.name)): \(fields.text(of: $0.value))\r\n" }
        return "\(fields.text(of: head.methodName)) \(path.isEmpty ? "*" : path) HTTP/2\r\n"
            + "Host: \(fields.text(of: target.host)):\(target.port)\r\n\(lines.joined())\r\n"
    }

    // MARK: Responses

    package static func head(_ status: Int, _ fields: [(String, String)]) -> ResponseHead {
        var head = ResponseHead()
        head.version = .http2
        head.status = Status(UInt16(status))
        for (name, value) in fields { head.fields.append(name: Array(name.utf8).span, value: Array(value.utf8).span) }
        return head
    }

    /// Sends a head whose content follows.
    package func begin(_ id: HTTP2StreamID, _ status: Int = 200, _ fields: [(String, String)] = []) {
        try? session.submitResponse(id, Self.head(status, fields), endStream: false)
    }

    /// Sends content that does not end the response.
    package func send(_ text: String, on id: HTTP2StreamID) {
        _ = Array(text.utf8).withUnsafeBytes { try? session.submitData(id, $0, end: false) }
    }

    /// Sends the rest of the content, as the windows open, and the end.
    package func send(_ content: ArraySlice<UInt8>, trailers: [(String, String)] = [], on id: HTTP2StreamID) {
        guard let count = content.withUnsafeBytes({ try? session.submitData(id, $0, end: trailers.isEmpty) }) else { return }
        if count < content.count {
            unsent[id] = (content.dropFirst(count), trailers)
        } else if !trailers.isEmpty {
            try? session.submitTrailers(id, Self.head(200, trailers).fields)
        }
    }

    package func respond(
        _ id: HTTP2StreamID, _ status: Int = 200, _ fields: [(String, String)] = [], body: String = "",
        trailers: [(String, String)] = []
    ) {
        respond(id, status, fields, content: Array(body.utf8), trailers: trailers)
    }

    package func respond(
        _ id: HTTP2StreamID, _ status: Int = 200, _ fields: [(String, String)] = [], content: [UInt8],
        trailers: [(String, String)] = []
    ) {
        if content.isEmpty, trailers.isEmpty {
            try? session.submitResponse(id, Self.head(status, fields), endStream: true)
            return
        }
        begin(id, status, fields)
        send(content[...], trailers: trailers, on: id)
    }
}
