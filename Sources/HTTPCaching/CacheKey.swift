import HTTPMessage

/// The primary cache key: the target URI in one spelling (RFC 9111 §2), `http://host:port/path?query`.
///
/// Scheme, host and port always stand in it, so that nothing else in a request can move it (T17 to T19).
/// GET and HEAD share the key, since only responses to GET are stored.
package struct CacheKey: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    package init(of request: RequestHead) {
        var bytes: [UInt8] = []
        Self.write(request, into: &bytes)
        self.init(bytes: bytes)
    }

    /// Replaces `output`'s content by the key, keeping its storage.
    package static func write(_ request: RequestHead, into output: inout [UInt8]) {
        output.removeAll(keepingCapacity: true)
        let target = request.target
        writeOrigin(of: request, into: &output)
        if target.path.isEmpty { output.append(ASCII.slash) } else { output.append(request.span(of: target.path)) }
        output.append(request.span(of: target.query))
    }

    /// Appends `scheme://host:port` (RFC 9110 §4.3.1), the host in lower case.
    static func writeOrigin(of request: RequestHead, into output: inout [UInt8]) {
        let target = request.target
        output.append(target.scheme == .https ? "https://" : "http://")
        let host = request.span(of: target.host)
        if target.hostKind == .ipv6 { output.append(0x5B) }
        for index in 0..<host.count { output.append(ASCII.lowercased(host[index])) }
        if target.hostKind == .ipv6 { output.append(0x5D) }
        output.append(ASCII.colon)
        output.append(decimal: UInt64(target.port))
    }
}
