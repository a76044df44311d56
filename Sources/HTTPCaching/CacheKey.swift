import HTTPMessage

/// The primary cache key: the normalized target URI (RFC 9111 §2), `http://host:port/path?query`.
///
/// It always has scheme, host and port, and no other part of a request can change it (T17 to T19 in docs/threats.md). GET and HEAD
/// share the key, since only responses to GET are stored.
public struct CacheKey: Hashable, Sendable {
    /// The key as ASCII text.
    public let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    package init(of request: RequestHead) {
        var bytes: [UInt8] = []
        Self.write(request, into: &bytes)
        self.init(bytes: bytes)
    }

    /// Replaces the content of `output` with the key, keeping its storage.
    package static func write(_ request: borrowing RequestHead, into output: inout [UInt8]) {
        if !output.isEmpty { output.removeAll(keepingCapacity: true) }
        let target = request.target
        let path = request.span(of: pathAndQuery(of: target))
        let host = request.span(of: target.host)
        output.append(addingCapacity: originLength(ofHost: host.count) + 1 + path.count) { key in
            writeOrigin(of: target, host: host, into: &key)
            if target.path.isEmpty { key.append(ASCII.slash) }
            key.append(path)
        }
    }

    /// Appends `scheme://host:port` (RFC 9110 §4.3.1), with the host in lower case.
    static func writeOrigin(of request: RequestHead, into output: inout [UInt8]) {
        let host = request.span(of: request.target.host)
        output.append(addingCapacity: originLength(ofHost: host.count)) {
            writeOrigin(of: request.target, host: host, into: &$0)
        }
    }

    private static func writeOrigin(of target: RequestTarget, host: Span<UInt8>, into key: inout OutputSpan<UInt8>) {
        let isBracketed = isIPv6(target.hostKind)
        switch target.scheme {
        case .http: key.append("http://")
        case .https: key.append("https://")
        }
        if isBracketed { key.append(UInt8(ascii: "[")) }
        key.append(lowercasing: host)
        if isBracketed { key.append(UInt8(ascii: "]")) }
        key.append(ASCII.colon)
        key.append(decimal: UInt64(target.port))
    }

    /// The query directly follows the path, so one append takes both.
    private static func pathAndQuery(of target: RequestTarget) -> Extent {
        let start = target.path.isEmpty ? target.query.offset : target.path.offset
        return Extent(offset: Int(start), count: Int(target.path.count + target.query.count))
    }

    /// The maximum length of an origin with this host, in bytes: `https://[`, the host, and `]:65535`.
    private static func originLength(ofHost count: Int) -> Int { 9 + count + 7 }

    private static func isIPv6(_ kind: RequestTarget.HostKind) -> Bool {
        switch kind {
        case .ipv6: true
        case .name, .ipv4: false
        }
    }
}
