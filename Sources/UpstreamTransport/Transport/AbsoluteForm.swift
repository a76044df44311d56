import HTTPMessage

/// A request head for an upstream proxy: the target in absolute form (RFC 9112 §3.2.2), with the proxy's credentials.
enum AbsoluteForm {
    /// - Parameter head: the head with a target in origin form or with the target `*` of OPTIONS; `*` becomes a target without a path (RFC
    ///   9112 §3.2.4).
    static func head(from head: [UInt8], origin: Origin, authorization: [UInt8]?) -> [UInt8] {
        guard let space = head.firstIndex(of: ASCII.space), let lineEnd = head[space...].firstIndex(of: ASCII.lf) else {
            return head
        }
        var result: [UInt8] = []
        result.reserveCapacity(head.count + origin.host.utf8.count + 96)
        result.append(contentsOf: head[...space])
        result.append(origin.scheme == .https ? "https://" : "http://")
        let isIPv6 = origin.host.utf8.contains(ASCII.colon)
        if isIPv6 { result.append(0x5B) }
        result.append(contentsOf: origin.host.utf8)
        if isIPv6 { result.append(0x5D) }
        if origin.port != (origin.scheme == .https ? 443 : 80) {
            result.append(ASCII.colon)
            result.append(decimal: UInt64(origin.port))
        }
        var rest = space + 1
        if head[rest] == 0x2A, head[rest + 1] == ASCII.space { rest += 1 }
        result.append(contentsOf: head[rest...lineEnd])
        if let authorization {
            result.append("Proxy-Authorization: ")
            result.append(contentsOf: authorization)
            result.append("\r\n")
        }
        result.append(contentsOf: head[(lineEnd + 1)...])
        return result
    }
}
