import EventLoop
import HTTPMessage
import TestSupport
import WebSocketWire

@testable import LarderHTTP

/// The server's side of one WebSocket, for the script of a `ScriptedOrigin`.
final class ServerSocket {
    private let reader: WebSocketReader
    private let writer: WebSocketWriter
    private var input: [UInt8] = []
    private var offset = 0
    let request: OriginRequest

    init(_ request: OriginRequest, _ compression: DeflateParameters? = nil, fragmentLength: Int = .max) {
        self.request = request
        reader = WebSocketReader(.server, compression: compression)
        writer = WebSocketWriter(.server, compression: compression, fragmentLength: fragmentLength) { 0 }
    }

    /// Reads the request and accepts it.
    /// - Parameter fields: further lines of the response.
    static func accept(
        _ connection: borrowing OriginConnection, fields: String = "", compression: DeflateParameters? = nil,
        fragmentLength: Int = .max
    ) -> ServerSocket? {
        guard let head = connection.readHead() else { return nil }
        let request = OriginRequest(head: head)
        guard request["Upgrade"] != nil else { return nil }
        connection.send(grant(request, fields))
        return ServerSocket(request, compression, fragmentLength: fragmentLength)
    }

    static func grant(_ request: OriginRequest, _ fields: String = "") -> String {
        let accept = WebSocketHandshake.accept(Array((request["Sec-WebSocket-Key"] ?? "").utf8).span)
        return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(String(decoding: accept, as: UTF8.self))\r\n\(fields)\r\n"
    }

    /// The client's next event; `nil` at the end of its bytes, or for an invalid frame.
    func next(_ connection: borrowing OriginConnection) -> WebSocketReader.Event? {
        while true {
            if offset < input.count {
                guard let event = try? reader.next(input.span, from: &offset) else {
                    if offset < input.count { return nil }
                    continue
                }
                return event
            }
            guard let bytes = connection.readSome() else { return nil }
            (input, offset) = (bytes, 0)
        }
    }

    func send(_ message: WebSocketMessage, _ connection: borrowing OriginConnection) {
        var frames: [UInt8] = []
        writer.write(message, into: &frames)
        connection.send(bytes: frames)
    }

    func send(_ text: String, _ connection: borrowing OriginConnection) { send(.text(Array(text.utf8)), connection) }

    func control(_ opcode: WebSocketOpcode, _ payload: [UInt8] = [], _ connection: borrowing OriginConnection) {
        var frames: [UInt8] = []
        WebSocketWriter.write(opcode, payload, maskingKey: nil, into: &frames)
        connection.send(bytes: frames)
    }

    func close(_ code: UInt16, reason: String = "", _ connection: borrowing OriginConnection) {
        control(.close, WebSocketWriter.payload(of: WebSocketClosing(code: code, reason: Array(reason.utf8))), connection)
    }

    /// Sends each message back, answers pings and the Close frame, and then ends the connection.
    func echo(_ connection: borrowing OriginConnection) -> [WebSocketReader.Event] {
        var events: [WebSocketReader.Event] = []
        while let event = next(connection) {
            events.append(event)
            switch event {
            case .message(let message): send(message, connection)
            case .ping(let payload): control(.pong, payload, connection)
            case .pong: continue
            case .close(let closing):
                control(.close, closing.map(WebSocketWriter.payload) ?? [], connection)
                return events
            }
        }
        return events
    }
}

/// Events of the server's side, for a test to wait for.
final class ServerEvents: Sendable {
    private let state = Guarded<[WebSocketReader.Event]>([])
    private let isOver = Gate()

    func end(_ events: [WebSocketReader.Event]) {
        state.withLock { $0 = events }
        isOver.open()
    }

    /// Waits for the end of the server's script.
    func wait() -> [WebSocketReader.Event] {
        isOver.wait()
        return state.withLock { $0 }
    }
}
