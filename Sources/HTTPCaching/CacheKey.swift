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
        if target.path.isEmpty { output.append(ASCII.slash) }
        // The query stands right behind the path.
        let start = target.path.isEmpty ? target.query.offset : target.path.offset
        output.append(request.span(of: Extent(offset: Int(start), count: Int(target.path.count + target.query.count))))
    }

    /// Appends `scheme://host:port` (RFC 9110 §4.3.1), the host in lower case.
    static func writeOrigin(of request: RequestHead, into output: inout [UInt8]) {
        let target = request.target
        let isBracketed = isIPv6(target.hostKind)
        switch target.scheme {
        case .http: output.append(isBracketed ? "http://[" : "http://")
        case .https: output.append(isBracketed ? "https://[" : "https://")
        }
        let host = request.span(of: target.host)
        output.append(addingCapacity: host.count) { lowercase in
            for index in 0..<host.count { lowercase.append(ASCII.lowercased(host[index])) }
        }
        if target.port == 80 {
            output.append(isBracketed ? "]:80" : ":80")
        } else {
            output.append(isBracketed ? "]:" : ":")
            output.append(decimal: UInt64(target.port))
        }
    }

    private static func isIPv6(_ kind: RequestTarget.HostKind) -> Bool {
        switch kind {
        case .ipv6: true
        case .name, .ipv4: false
        }
    }
}
