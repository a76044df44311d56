import HTTPMessage

/// The protocol to which a connection may switch: only WebSocket (RFC 6455).
///
/// RFC 9110 §7.8 lets a proxy decide which Upgrade fields it forwards. After a 101, Larder does not inspect the bytes. So it only
/// allows the protocol that is designed to pass through proxies: WebSocket clients mask their bytes, so intermediaries cannot
/// take them for a request (RFC 6455 §10.3). `h2c` and `TLS` are only meant for the next hop, and would remove requests from this
/// proxy's control. A WebSocket request has no content (RFC 6455 §4.1): with content, it would be ambiguous to which protocol the
/// bytes belong. In all other cases, Larder ignores Upgrade and answers the request as usual.
enum ProtocolSwitch {
    private static var name: StaticString { "websocket" }

    /// Whether the request asks only for WebSocket, in an Upgrade field that Larder must not ignore. RFC 9110 §7.8 requires recipients to
    /// ignore the field in HTTP/1.0, and without the connection option.
    static func isAsked(by request: RequestHead, body: BodyLength) -> Bool {
        guard case .get = request.method, request.version.isAtLeast11, body == .none || body == .known(0) else { return false }
        return isNamed(in: request.fields)
    }

    /// Whether the server's response switches to WebSocket.
    static func isGranted(by response: ResponseHead) -> Bool { response.version.isAtLeast11 && isNamed(in: response.fields) }

    /// Whether the response confirms the request's key (RFC 6455 §4.1): a server without WebSocket cannot do so by accident. A client with
    /// HTTP/2 has no key, and cannot check the response itself. A request without a key, which RFC 6455 does not permit, is not checked.
    static func isConfirmed(by response: ResponseHead, for request: RequestHead) -> Bool {
        guard let key = request.fields.value(ofAllLinesNamed: Array("sec-websocket-key".utf8)) else { return true }
        return response.fields.value(ofAllLinesNamed: Array("sec-websocket-accept".utf8)) == WebSocketHandshake.accept(key.span)
    }

    /// The field lines for the next recipient that replace the received hop-by-hop lines.
    static func writeLines(into output: inout [UInt8]) {
        output.append("Connection: upgrade\r\nUpgrade: ")
        output.append(name)
        output.append("\r\n")
    }

    private static func isNamed(in fields: Fields) -> Bool {
        guard fields.lineCount(of: .upgrade) == 1, let line = fields.first(.upgrade), ConnectionOptions(of: fields).hasUpgrade
        else { return false }
        let value = fields.value(of: line)
        var elements = ListElements()
        guard let element = elements.next(in: value), elements.next(in: value) == nil else { return false }
        return value.extracting(element).equalsIgnoringCase(name)
    }
}
