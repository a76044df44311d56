/// Why a request target is rejected. The client gets 400 in every case.
package enum RequestTargetError: Error, Equatable, Sendable {
    /// The target has none of the four forms (RFC 9112 §3.2).
    case malformed
    /// The method of the request does not permit this form of target (RFC 9112 §3.2).
    case formNotAllowed
    case unsupportedScheme
    case authority(AuthorityFault)
    case fragment, backslash, nul, illegalOctet

    package var reason: StaticString {
        switch self {
        case .malformed: "malformed_target"
        case .formNotAllowed: "target_form_not_allowed"
        case .unsupportedScheme: "unsupported_scheme"
        case .authority(let fault): fault.reason
        case .fragment: "fragment_in_target"
        case .backslash: "backslash_in_target"
        case .nul: "nul_in_target"
        case .illegalOctet: "illegal_octet_in_target"
        }
    }
}

extension RequestTarget {
    /// Parses the target of a request with this method. `range` and all resulting positions refer to `bytes`.
    ///
    /// The host is parsed strictly (see `Authority`). Path and query are forwarded as received, so they may hold characters that
    /// clients send in spite of RFC 3986 (`|`, `[`, UTF-8). They must not hold a blank, a control character or `#`, and the path must
    /// not hold `\` or an encoded NUL: another recipient might read these differently.
    ///
    /// - Parameter memory: the origin of the target that was parsed before this one.
    package init(
        parsing range: Range<Int>, in bytes: Span<UInt8>, method: Method, with memory: inout OriginMemory
    ) throws(RequestTargetError) {
        self.init()
        guard !range.isEmpty else { throw .malformed }
        // Positions stay relative to `bytes`. The bytes after the target are cut off, so that they cannot be read.
        let bytes = bytes.extracting(0..<range.upperBound)
        let start = range.lowerBound
        if method == .connect {
            try readAuthorityForm(from: start, in: bytes)
        } else if bytes[start] == ASCII.slash {
            form = .origin
            try readPathAndQuery(from: start, in: bytes)
        } else if bytes[start] == UInt8(ascii: "*"), range.count == 1 {
            guard method == .options else { throw .formNotAllowed }
            form = .asterisk
        } else {
            try readAbsoluteForm(from: start, in: bytes, with: &memory)
        }
    }

    package init(parsing range: Range<Int>, in bytes: Span<UInt8>, method: Method) throws(RequestTargetError) {
        var nothing = OriginMemory()
        try self.init(parsing: range, in: bytes, method: method, with: &nothing)
    }

    /// This is the absolute form (RFC 9112 §3.2.2). Larder fetches only http and https URLs (T40 in docs/threats.md).
    private mutating func readAbsoluteForm(
        from start: Int, in bytes: Span<UInt8>, with memory: inout OriginMemory
    ) throws(RequestTargetError) {
        if let pathStart = memory.restore(at: start, in: bytes, into: &self) {
            return try readPathAndQuery(from: pathStart, in: bytes)
        }
        form = .absolute
        let authorityStart = try readScheme(from: start, in: bytes)
        let end = try readAuthority(from: authorityStart, in: bytes)
        port = port == 0 ? (scheme == .https ? 443 : 80) : port
        memory.remember(self, standingIn: start..<end, of: bytes)
        try readPathAndQuery(from: end, in: bytes)
    }

    /// Reads the scheme and `://`, and returns the position at which the authority starts.
    private mutating func readScheme(from start: Int, in bytes: Span<UInt8>) throws(RequestTargetError) -> Int {
        if bytes.count - start > 7, bytes.extracting(start..<start + 7).equals("http://") { return start + 7 }
        var end = start
        while end < bytes.count, Self.isSchemeCharacter(bytes[end]) { end += 1 }
        guard end < bytes.count, bytes[end] == ASCII.colon, ASCII.isAlpha(bytes[start]) else { throw .malformed }
        let name = bytes.extracting(start..<end)
        if name.equalsIgnoringCase("http") {
            scheme = .http
        } else if name.equalsIgnoringCase("https") {
            scheme = .https
        } else if end + 1 < bytes.count, ASCII.isDigit(bytes[end + 1]) {
            // The target is `host:port`, but the method is not CONNECT.
            throw .formNotAllowed
        } else {
            throw .unsupportedScheme
        }
        guard end + 2 < bytes.count, bytes[end + 1] == ASCII.slash, bytes[end + 2] == ASCII.slash else { throw .malformed }
        return end + 3
    }

    /// This is the authority form (RFC 9112 §3.2.3). A port is required (RFC 9110 §9.3.6).
    private mutating func readAuthorityForm(from start: Int, in bytes: Span<UInt8>) throws(RequestTargetError) {
        form = .authority
        for index in start..<bytes.count where Self.endsAuthority(bytes[index]) { throw .formNotAllowed }
        let end = try readAuthority(from: start, in: bytes)
        guard end == bytes.count, port > 0 else { throw .authority(.malformedPort) }
    }

    /// Reads the host and the port (0 if there is none). Returns the position after them: of the path, the query or the target's end.
    private mutating func readAuthority(from start: Int, in bytes: Span<UInt8>) throws(RequestTargetError) -> Int {
        var end = start
        do throws(AuthorityFault) {
            let authority = try Authority(startingAt: start, in: bytes, end: &end)
            host = authority.host
            hostKind = authority.hostKind
            port = authority.port ?? 0
            guard end == bytes.count || Self.endsAuthority(bytes[end]) else { throw Authority.fault(at: end, in: bytes) }
        } catch {
            throw .authority(error)
        }
        return end
    }

    private mutating func readPathAndQuery(from start: Int, in bytes: Span<UInt8>) throws(RequestTargetError) {
        var index = bytes.firstNotable(from: start, isPath: true)
        while index < bytes.count, bytes[index] != ASCII.question {
            try Self.checkOctet(bytes[index])
            if bytes[index] == ASCII.backslash { throw .backslash }
            if PercentEncoding.byte(in: bytes, at: index) == 0 { throw .nul }
            index = bytes.firstNotable(from: index + 1, isPath: true)
        }
        path = Extent(offset: start, count: index - start)
        query = Extent(offset: index, count: bytes.count - index)
        if index == bytes.count { return }
        index = bytes.firstNotable(from: index, isPath: false)
        while index < bytes.count {
            try Self.checkOctet(bytes[index])
            index = bytes.firstNotable(from: index + 1, isPath: false)
        }
    }

    // MARK: Bytes

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == ASCII.slash || byte == ASCII.question || byte == UInt8(ascii: "#")
    }

    private static func isSchemeCharacter(_ byte: UInt8) -> Bool {
        ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }

    private static func checkOctet(_ byte: UInt8) throws(RequestTargetError) {
        if byte == UInt8(ascii: "#") { throw .fragment }
        if byte <= 0x20 || byte == 0x7F { throw .illegalOctet }
    }
}

extension Span<UInt8> {
    /// The index of the first byte in a target's path or query that needs a closer look; if there is none, the end. Such bytes are
    /// those that are not allowed, and in a path also `%`, `?` and `\`. The search also stops at some harmless bytes.
    fileprivate func firstNotable(from start: Int, isPath: Bool) -> Int {
        isPath
            ? first(
                from: start,
                block: {
                    $0.isBelow(UInt8(ascii: "&")) .| $0.isEqual(to: 0x7F)
                        .| $0.isEqual(to: ASCII.question) .| $0.isEqual(to: ASCII.backslash)
                },
                octet: { $0 < UInt8(ascii: "&") || $0 == 0x7F || $0 == ASCII.question || $0 == ASCII.backslash })
            : first(
                from: start,
                block: { $0.isBelow(UInt8(ascii: "&")) .| $0.isEqual(to: 0x7F) },
                octet: { $0 < UInt8(ascii: "&") || $0 == 0x7F })
    }
}
