import HTTPMessage

/// The stored responses that a request makes outdated (RFC 9111 §4.4).
package enum Invalidation {
    /// The keys to invalidate: the target URI's key, and the keys of Location and Content-Location if these have the same origin as the
    /// target. Empty if the method is safe or the response is an error. An unknown method counts as unsafe.
    package static func keys(request: RequestHead, response: ResponseHead) -> [[UInt8]] {
        let isNoError = (200...399).contains(response.status.code)
        guard !request.method.isSafe, request.method != .connect, isNoError, !request.target.host.isEmpty else { return [] }
        var keys = [CacheKey(of: request).bytes]
        append(.location, of: response.fields, request: request, to: &keys)
        append(.contentLocation, of: response.fields, request: request, to: &keys)
        return keys
    }

    private static func append(
        _ field: KnownField, of fields: Fields, request: RequestHead, to keys: inout [[UInt8]]
    ) {
        guard fields.lineCount(of: field) == 1, let line = fields.first(field) else { return }
        guard let key = URIReference.key(of: fields.value(of: line), base: request), !keys.contains(key) else { return }
        keys.append(key)
    }
}

extension URIReference {
    /// The key of a URI reference in a response. The reference is resolved against the request's target URI, as far as a key requires
    /// (RFC 3986 §5.2). `nil` if the reference has another origin than the target URI or is malformed.
    static func key(of reference: Span<UInt8>, base request: RequestHead) -> [UInt8]? {
        for index in 0..<reference.count where reference[index] <= 0x20 || reference[index] == 0x7F { return nil }
        var octets: [UInt8] = []
        octets.append(reference)
        let parts = URIReference(octets)
        var key: [UInt8] = []
        CacheKey.writeOrigin(of: request, into: &key)
        if let scheme = parts.scheme {
            let isSame = Array(scheme).span.equalsIgnoringCase(request.target.scheme == .https ? "https" : "http")
            guard isSame, parts.authority != nil else { return nil }
        }
        if let authority = parts.authority {
            guard Self.authority(Array(authority).span, isThatOf: request) else { return nil }
            key += withoutDots(parts.path)
        } else {
            var base: [UInt8] = []
            base.append(request.span(of: request.target.path))
            switch parts.path.first {
            case nil:
                key += withoutDots(base)
                // The base's query includes its question mark.
                if parts.query == nil { key.append(request.span(of: request.target.query)) }
            case ASCII.slash: key += withoutDots(parts.path)
            default: key += withoutDots(merged(base, parts.path))
            }
        }
        if let query = parts.query { key += [ASCII.question] + query }
        return key
    }

    /// Whether host and port equal those of the base URI. False if there is userinfo.
    private static func authority(_ authority: Span<UInt8>, isThatOf request: RequestHead) -> Bool {
        var hostEnd = authority.count
        while hostEnd > 0, ASCII.isDigit(authority[hostEnd - 1]) { hostEnd -= 1 }
        let hasPort = hostEnd > 0 && authority[hostEnd - 1] == ASCII.colon
        var port: UInt16 = request.target.scheme == .https ? 443 : 80
        if hasPort, hostEnd < authority.count {
            guard let number = DeltaSeconds(authority.extracting(hostEnd..<authority.count)), number.seconds <= 65_535 else {
                return false
            }
            port = UInt16(number.seconds)
        }
        var host = 0..<(hasPort ? hostEnd - 1 : authority.count)
        if request.target.hostKind == .ipv6 {
            guard host.count > 2, authority[0] == 0x5B, authority[host.upperBound - 1] == 0x5D else { return false }
            host = 1..<host.upperBound - 1
        }
        return port == request.target.port
            && authority.extracting(host).equalsIgnoringCase(request.span(of: request.target.host))
    }
}
