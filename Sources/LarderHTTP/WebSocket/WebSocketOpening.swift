import EventLoop
import HTTPMessage
import UpstreamTransport
internal import WebSocketWire

/// The opening handshake of one WebSocket (RFC 6455 §4.1), over all tries of its request: writes the fields of the request, checks the
/// response, and keeps the connection until the caller takes it.
final class WebSocketOpening: Sendable {
    /// A connection after a valid handshake.
    struct Opened: Sendable {
        let channel: WebSocketChannel
        let subprotocol: String?
        let compression: DeflateParameters?
        let fragmentLength: Int
    }

    private struct State {
        var key: [UInt8] = []
        var opened: Opened?
        /// Why the response is not a valid handshake.
        var failure: SessionError?
    }

    private let options: WebSocketOptions
    private let offer: DeflateOffer?
    private let state = Guarded(State())

    init(_ options: WebSocketOptions) {
        self.options = options
        offer = options.compression?.offer
    }

    // MARK: The request

    /// The target with the scheme of HTTP. RFC 6455 §3: the URI has no fragment.
    static func target(_ text: String) throws(SessionError) -> String {
        if text.utf8.contains(UInt8(ascii: "#")) { throw SessionError(.badURL, "the URI of a WebSocket has no fragment") }
        let scheme = text.prefix { $0 != ":" }
        switch scheme.lowercased() {
        case "ws": return "http" + text.dropFirst(scheme.count)
        case "wss": return "https" + text.dropFirst(scheme.count)
        default: return text
        }
    }

    static func check(_ request: SessionRequest, _ options: WebSocketOptions) throws(SessionError) {
        guard request.method == .get, case .none = request.body else {
            throw SessionError(.malformedRequest, "the request for a WebSocket is a GET without content")
        }
        for (name, _) in request.fields where name.lowercased().hasPrefix("sec-websocket-") {
            throw SessionError(.malformedRequest, "the caller may not set \(name), because the session sets it")
        }
        for name in options.subprotocols where name.isEmpty || !name.utf8.allSatisfy(ASCII.isTokenCharacter) {
            throw SessionError(.malformedRequest, "a subprotocol is not a token")
        }
        if Set(options.subprotocols).count < options.subprotocols.count {
            throw SessionError(.malformedRequest, "a subprotocol is named twice")
        }
    }

    /// The field lines for the next try, with a new key.
    func lines() -> [UInt8] {
        abandon()
        let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        let key = Array(Base64.encode(bytes).utf8)
        state.withLock { state in
            state.key = key
            state.failure = nil
        }
        var lines: [UInt8] = []
        lines.append("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ")
        lines += key
        lines.append("\r\n")
        if !options.subprotocols.isEmpty {
            lines += "Sec-WebSocket-Protocol: \(options.subprotocols.joined(separator: ", "))\r\n".utf8
        }
        if let offer { lines += "Sec-WebSocket-Extensions: \(offer.text)\r\n".utf8 }
        return lines
    }

    // MARK: The response, on the loop

    /// Takes the connection after a 101, if the response is valid.
    func accept(_ fields: Fields, _ connection: SwitchedConnection, on loop: SessionLoop, of link: ResponseChannel) {
        do throws(SessionError) {
            try checkSwitch(fields)
            let subprotocol = try chosenSubprotocol(fields)
            let compression = try acceptedCompression(fields)
            let channel = WebSocketChannel(link.loops, place: link.place, number: link.loops.nextNumber(), options)
            WebSocketConnection.start(connection, channel, options, compression, on: loop)
            let opened = Opened(
                channel: channel, subprotocol: subprotocol, compression: compression, fragmentLength: options.fragmentLength)
            state.withLock { $0.opened = opened }
        } catch {
            connection.close()
            state.withLock { $0.failure = error }
        }
    }

    private func checkSwitch(_ fields: Fields) throws(SessionError) {
        let upgrade = fields.combinedValue(of: .upgrade)
        guard upgrade?.lowercased() == "websocket", ConnectionOptions(of: fields).hasUpgrade else {
            throw SessionError(.webSocketRefused, "the response does not switch to WebSocket")
        }
        let key = state.withLock { $0.key }
        guard fields.value(ofAllLinesNamed: Array("sec-websocket-accept".utf8)) == WebSocketHandshake.accept(key.span) else {
            throw SessionError(.webSocketRefused, "Sec-WebSocket-Accept does not match the key of the request")
        }
    }

    private func chosenSubprotocol(_ fields: Fields) throws(SessionError) -> String? {
        guard let value = fields.value(ofAllLinesNamed: Array("sec-websocket-protocol".utf8)) else { return nil }
        let name = String(decoding: value, as: UTF8.self)
        guard options.subprotocols.contains(name) else {
            throw SessionError(.webSocketRefused, "the server has chosen a subprotocol that was not offered")
        }
        return name
    }

    private func acceptedCompression(_ fields: Fields) throws(SessionError) -> DeflateParameters? {
        guard let value = fields.value(ofAllLinesNamed: Array("sec-websocket-extensions".utf8)) else { return nil }
        do throws(DeflateOffer.Fault) { return try DeflateOffer.accepted(value.span, of: offer) } catch {
            throw SessionError(.webSocketRefused, "Sec-WebSocket-Extensions: \(error.rawValue)")
        }
    }

    // MARK: From the task

    /// Why there is no connection after this response.
    func failure(_ arrived: TransferTask.OpenResponse) -> SessionError {
        let failure = state.withLock { $0.failure } ?? SessionError(.webSocketRefused, "status \(arrived.head.status.code)")
        return failure.about(arrived.response)
    }

    /// The connection, once.
    func take() -> Opened? {
        state.withLock { state in
            defer { state.opened = nil }
            return state.opened
        }
    }

    /// Closes a connection that the caller does not get.
    func abandon() { take()?.channel.cancel(.cancelled) }
}
