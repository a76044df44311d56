import HTTPMessage

/// Which stored responses a request makes untrue (RFC 9111 §4.4).
package enum Invalidation {
    /// The keys whose stored responses are to be invalidated: of the target, and of Location and Content-Location where they
    /// name the same origin. Empty unless the method is unsafe (or unknown) and the response is no error.
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

/// A URI reference in a response, resolved against the request's target as far as keys need it (RFC 3986 §5.2).
enum URIReference {
    /// The key of what is referred to, or `nil` where it has another origin than the base or cannot be read.
    static func key(of reference: Span<UInt8>, base request: RequestHead) -> [UInt8]? {
        for index in 0..<reference.count where reference[index] <= 0x20 || reference[index] == 0x7F { return nil }
        var end = 0
        while end < reference.count, reference[end] != 0x23 { end += 1 }
        var key: [UInt8] = []
        CacheKey.writeOrigin(of: request, into: &key)
        var start = 0
        if let schemeEnd = schemeEnd(reference, end: end) {
            let isSame = reference.extracting(0..<schemeEnd).equalsIgnoringCase(
                request.target.scheme == .https ? "https" : "http")
            guard isSame else { return nil }
            start = schemeEnd + 1
            guard hasAuthority(reference, at: start, end: end) else { return nil }
        }
        if hasAuthority(reference, at: start, end: end) {
            let authorityStart = start + 2
            start = authorityStart
            while start < end, reference[start] != ASCII.slash, reference[start] != ASCII.question { start += 1 }
            guard authority(reference.extracting(authorityStart..<start), isThatOf: request) else { return nil }
            appendPath(Array(copying: reference.extracting(start..<end)), to: &key)
            return key
        }
        appendPath(merged(reference.extracting(start..<end), with: request), to: &key)
        return key
    }

    private static func schemeEnd(_ reference: Span<UInt8>, end: Int) -> Int? {
        guard end > 0, ASCII.isAlpha(reference[0]) else { return nil }
        for index in 0..<end {
            let byte = reference[index]
            if byte == ASCII.colon { return index }
            let isSchemeCharacter = ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == 0x2B || byte == 0x2D || byte == 0x2E
            guard isSchemeCharacter else { return nil }
        }
        return nil
    }

    private static func hasAuthority(_ reference: Span<UInt8>, at start: Int, end: Int) -> Bool {
        start + 1 < end && reference[start] == ASCII.slash && reference[start + 1] == ASCII.slash
    }

    /// Host and port as the base has them; user information never is.
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

    /// The reference's path and query, put behind the base's last slash where it is relative.
    private static func merged(_ reference: Span<UInt8>, with request: RequestHead) -> [UInt8] {
        let text = Array(copying: reference)
        guard text.first != ASCII.slash else { return text }
        var path = Array(copying: request.span(of: request.target.path))
        if text.isEmpty { return path + Array(copying: request.span(of: request.target.query)) }
        if text.first == ASCII.question { return path + text }
        if let slash = path.lastIndex(of: ASCII.slash) { path.removeSubrange((slash + 1)...) } else { path = [ASCII.slash] }
        return path + text
    }

    /// Appends path and query, the path without dot segments (RFC 3986 §5.2.4).
    private static func appendPath(_ text: [UInt8], to key: inout [UInt8]) {
        let queryStart = text.firstIndex(of: ASCII.question) ?? text.endIndex
        var segments: [ArraySlice<UInt8>] = []
        let parts = text[..<queryStart].split(separator: ASCII.slash, omittingEmptySubsequences: false).dropFirst()
        for (index, part) in zip(parts.indices, parts) {
            let isLast = index == parts.indices.last
            switch part {
            case [0x2E]: if isLast { segments.append([]) }
            case [0x2E, 0x2E]:
                _ = segments.popLast()
                if isLast { segments.append([]) }
            default: segments.append(part)
            }
        }
        if segments.isEmpty { segments.append([]) }
        for segment in segments {
            key.append(ASCII.slash)
            key.append(contentsOf: segment)
        }
        key.append(contentsOf: text[queryStart...])
    }
}

extension Array<UInt8> {
    fileprivate init(copying span: Span<UInt8>) {
        self = []
        append(span)
    }
}
