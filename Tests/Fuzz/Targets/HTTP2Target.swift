import HTTP2Wire
import HTTPMessage
import HTTPWire

extension FuzzTarget {
    /// Frames of a client: cut anywhere they give the same events, and an accepted head is forwarded in HTTP/1.1 and in HTTP/2 and read
    /// the same.
    package static let http2Server = FuzzTarget("HTTP2Server") { octets in
        let limits = HTTP2Limits.chosen(by: octets)
        if let fault = faultOfCuts(octets, role: .server, limits: limits) { return fault }
        guard let read = ReadFrames(octets, ends: [octets.count], role: .server, limits: limits) else { return nil }
        for head in read.requests {
            if let fault = faultOfFields(head.fields) ?? faultInHTTP1(head) ?? faultInHTTP2(head) { return fault }
        }
        return nil
    }

    /// Frames of a server to a client with four requests.
    package static let http2Client = FuzzTarget("HTTP2Client") { octets in
        let limits = HTTP2Limits.chosen(by: octets)
        if let fault = faultOfCuts(octets, role: .client, limits: limits) { return fault }
        guard let read = ReadFrames(octets, ends: [octets.count], role: .client, limits: limits) else { return nil }
        for head in read.responses {
            if let fault = faultOfFields(head.fields) { return fault }
            if head.status.code == 101 || head.status.code < 100 || head.status.code > 999 {
                return "a status that does not exist"
            }
        }
        return nil
    }

    private static func faultOfCuts(_ octets: [UInt8], role: HTTP2Session.Role, limits: HTTP2Limits) -> String? {
        let whole = ReadFrames(octets, ends: [octets.count], role: role, limits: limits)
        if ReadFrames(octets, ends: Cuts.each(of: octets.count), role: role, limits: limits) != whole {
            return "byte by byte differs"
        }
        if ReadFrames(octets, ends: Cuts.some(of: octets), role: role, limits: limits) != whole { return "in pieces differs" }
        return nil
    }

    private static func faultOfFields(_ fields: Fields) -> String? {
        for line in fields.lines {
            let name = fields.bytes[line.name.range]
            if name.isEmpty || !name.allSatisfy({ ASCII.isTokenCharacter($0) && !ASCII.isUppercase($0) }) {
                return "a wrong name"
            }
            let value = fields.bytes[line.value.range]
            if !value.allSatisfy(ASCII.isFieldValueCharacter) { return "a value with a control" }
            if let first = value.first, let last = value.last, ASCII.isBlank(first) || ASCII.isBlank(last) {
                return "a blank at an end"
            }
            switch line.known {
            case .connection, .keepAlive, .proxyConnection, .transferEncoding, .upgrade: return "a connection-specific field"
            default: break
            }
        }
        return nil
    }

    /// Another message must not begin inside a head that is forwarded in HTTP/1.1.
    private static func faultInHTTP1(_ head: RequestHead) -> String? {
        var head = head
        head.version = .http11
        if !head.fields.contains(.host) { head.fields.append("host", Array(authority(of: head)).span) }
        var written: [UInt8] = []
        WrittenHead.write(head, into: &written)
        var limits = ParseLimits()
        limits.fieldCount = 1000
        guard case .read(let again) = ReadRequest(written, ends: [written.count], limits: limits) else {
            return "what was accepted is refused in HTTP/1.1"
        }
        if again.length != written.count { return "what was written in HTTP/1.1 ends early" }
        let fields = head.fields.lines.flatMap {
            [Array(head.fields.bytes[$0.name.range]), Array(head.fields.bytes[$0.value.range])]
        }
        return again.fields == fields ? nil : "what was written in HTTP/1.1 is another"
    }

    private static func authority(of head: RequestHead) -> ArraySlice<UInt8> {
        let raw = head.fields.bytes[head.rawTarget.range]
        if head.target.form == .authority { return raw }
        let start = Int(head.target.host.offset) - (head.target.hostKind == .ipv6 ? 1 : 0)
        return head.fields.bytes[start..<Int(head.target.path.offset)]
    }

    private static func faultInHTTP2(_ head: RequestHead) -> String? {
        guard let client = HTTP2Session(role: .client), let server = HTTP2Session(role: .server) else { return nil }
        guard (try? client.submitRequest(head, endStream: true)) != nil else { return "what was accepted is not sent" }
        var output: [UInt8] = []
        client.outgoing(into: &output, limit: .max)
        output.withUnsafeBytes { server.receive($0, at: .zero) }
        while let event = server.nextEvent() {
            guard case .requestHead(_, let again, _, _) = event else { continue }
            let fields = head.fields.lines.filter { $0.known != .host }
            let isSame = zip(fields, again.fields.lines).allSatisfy { mine, other in
                head.fields.bytes[mine.value.range] == again.fields.bytes[other.value.range] || mine.known == .cookie
            }
            return isSame && fields.count == again.fields.count ? nil : "what was forwarded in HTTP/2 is another"
        }
        return head.fields.contains(.contentLength) ? nil : "what was accepted is refused in HTTP/2"
    }
}
