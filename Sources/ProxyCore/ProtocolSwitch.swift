import HTTPMessage

/// Which protocol a connection may go over to: WebSocket (RFC 6455), and no other.
///
/// RFC 9110 §7.8 leaves it to a proxy which Upgrade it passes on. Behind a 101 nothing of what passes is judged any more, so it is passed
/// for the one protocol that is made to go through proxies: its clients mask what they send, so that no byte of it can be taken for a
/// request by whoever stands between (RFC 6455 §10.3). `h2c` and `TLS` would take a connection out of this proxy's hands whose requests
/// it answers for, and are for the next hop alone. A request with content is none for WebSocket (RFC 6455 §4.1), and what would belong to
/// which protocol is then open to two readings. Where it is not passed on, an Upgrade is ignored, and the request answered as any other.
enum ProtocolSwitch {
    private static var name: StaticString { "websocket" }

    /// Whether the request asks for it, and for nothing else, in a way that is not to be ignored (RFC 9110 §7.8: not in HTTP/1.0, and not
    /// without the connection option).
    static func isAsked(by request: RequestHead, body: BodyLength) -> Bool {
        guard case .get = request.method, request.version.isAtLeast11, body == .none || body == .known(0) else { return false }
        return isNamed(in: request.fields)
    }

    /// Whether it is what the server goes over to.
    static func isGranted(by response: ResponseHead) -> Bool { response.version.isAtLeast11 && isNamed(in: response.fields) }

    /// The lines that say so to the next recipient, in place of those that were for us.
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
