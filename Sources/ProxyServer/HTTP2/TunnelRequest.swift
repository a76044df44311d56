import HTTPMessage

/// The HTTP/1.1 form of a CONNECT request of HTTP/2.
enum TunnelRequest {
    /// - Parameter protocolName: the position of `:protocol` in the head's bytes (RFC 8441 §4); `nil` for CONNECT.
    static func write(_ head: borrowing RequestHead, protocol protocolName: Extent?, into output: inout [UInt8]) {
        output.append(protocolName == nil ? "CONNECT " : "GET ")
        output.append(head.span(of: head.rawTarget))
        output.append(" HTTP/1.1\r\nHost: ")
        let target = head.target
        if target.hostKind == .ipv6 { output.append("[") }
        output.append(head.span(of: target.host))
        if target.hostKind == .ipv6 { output.append("]") }
        output.append(":")
        output.append(decimal: UInt64(target.port))
        output.append("\r\n")
        if let protocolName {
            output.append("Connection: Upgrade\r\nUpgrade: ")
            output.append(head.span(of: protocolName))
            output.append("\r\nSec-WebSocket-Key: ")
            output.append(contentsOf: Base64.encode((0..<16).map { _ in UInt8.random(in: 0...255) }).utf8)
            output.append("\r\n")
        }
        for line in head.fields.lines where line.known != .host && line.known != .connection && line.known != .upgrade {
            // HTTP/2 does not use Sec-WebSocket-Key (RFC 8441 §5): Larder has written a key of its own above.
            if head.fields.name(of: line).equalsIgnoringCase("sec-websocket-key") { continue }
            output.append(head.fields.name(of: line))
            output.append(": ")
            output.append(head.fields.value(of: line))
            output.append("\r\n")
        }
        output.append("\r\n")
    }
}
