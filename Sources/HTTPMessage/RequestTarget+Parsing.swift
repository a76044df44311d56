/// What is wrong with a request target. Every one is answered with 400.
package enum RequestTargetFault: Error, Equatable, Sendable {
    /// None of the four forms.
    case malformed
    /// A form that this method may not have (RFC 9112 §3.2).
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
    /// Reads the target of a request with this method; places are those of `range` in `bytes`.
    ///
    /// The host is held to the letter (`Authority`). The path and query are passed on as they came, so they may hold
    /// what clients send in spite of RFC 3986 (`|`, `[`, UTF-8), but no blank, no control, no `#`, and in the path
    /// neither `\` nor an encoded NUL, which the next reader might take for something else.
    package init(parsing range: Range<Int>, in bytes: Span<UInt8>, method: Method) throws(RequestTargetFault) {
        self.init()
        guard !range.isEmpty else { throw .malformed }
        if method == .connect {
            try readAuthorityForm(range, in: bytes)
            return
        }
        let first = bytes[range.lowerBound]
        if first == ASCII.slash {
            form = .origin
            try readPathAndQuery(range, in: bytes)
        } else if first == UInt8(ascii: "*"), range.count == 1 {
            guard method == .options else { throw .formNotAllowed }
            form = .asterisk
        } else {
            try readAbsoluteForm(range, in: bytes)
        }
    }

    /// RFC 9112 §3.2.2. Only http and https are ever fetched (T40).
    private mutating func readAbsoluteForm(_ range: Range<Int>, in bytes: Span<UInt8>) throws(RequestTargetFault) {
        form = .absolute
        let schemeEnd = try readScheme(range, in: bytes)
        var authorityEnd = schemeEnd
        while authorityEnd < range.upperBound, !Self.endsAuthority(bytes[authorityEnd]) { authorityEnd += 1 }
        do throws(AuthorityFault) {
            let authority = try Authority(parsing: schemeEnd..<authorityEnd, in: bytes)
            host = authority.host
            hostKind = authority.hostKind
            port = authority.port ?? (scheme == .https ? 443 : 80)
        } catch {
            throw .authority(error)
        }
        try readPathAndQuery(authorityEnd..<range.upperBound, in: bytes)
    }

    /// Reads the scheme and `://`, and returns where the authority starts.
    private mutating func readScheme(_ range: Range<Int>, in bytes: Span<UInt8>) throws(RequestTargetFault) -> Int {
        var end = range.lowerBound
        while end < range.upperBound, Self.isSchemeCharacter(bytes[end]) { end += 1 }
        guard end < range.upperBound, bytes[end] == ASCII.colon, ASCII.isAlpha(bytes[range.lowerBound]) else {
            throw .malformed
        }
        let name = bytes.extracting(range.lowerBound..<end)
        if name.equalsIgnoringCase("http") {
            scheme = .http
        } else if name.equalsIgnoringCase("https") {
            scheme = .https
        } else if end + 1 < range.upperBound, ASCII.isDigit(bytes[end + 1]) {
            // `host:port` with a method that is not CONNECT.
            throw .formNotAllowed
        } else {
            throw .unsupportedScheme
        }
        guard end + 2 < range.upperBound, bytes[end + 1] == ASCII.slash, bytes[end + 2] == ASCII.slash else {
            throw .malformed
        }
        return end + 3
    }

    /// RFC 9112 §3.2.3; a port has to be there (RFC 9110 §9.3.6).
    private mutating func readAuthorityForm(_ range: Range<Int>, in bytes: Span<UInt8>) throws(RequestTargetFault) {
        form = .authority
        for index in range where Self.endsAuthority(bytes[index]) { throw .formNotAllowed }
        do throws(AuthorityFault) {
            let authority = try Authority(parsing: range, in: bytes)
            guard let port = authority.port else { throw .malformedPort }
            host = authority.host
            hostKind = authority.hostKind
            self.port = port
        } catch {
            throw .authority(error)
        }
    }

    private mutating func readPathAndQuery(_ range: Range<Int>, in bytes: Span<UInt8>) throws(RequestTargetFault) {
        let bytes = bytes.extracting(0..<range.upperBound)
        var index = bytes.firstNotable(from: range.lowerBound, isPath: true)
        while index < bytes.count, bytes[index] != ASCII.question {
            try Self.checkOctet(bytes[index])
            if bytes[index] == ASCII.backslash { throw .backslash }
            if Self.isEncodedNUL(at: index, in: bytes) { throw .nul }
            index = bytes.firstNotable(from: index + 1, isPath: true)
        }
        path = Extent(range.lowerBound..<index)
        query = Extent(index..<range.upperBound)
        index = bytes.firstNotable(from: index, isPath: false)
        while index < bytes.count {
            try Self.checkOctet(bytes[index])
            index = bytes.firstNotable(from: index + 1, isPath: false)
        }
    }

    // MARK: Octets

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == ASCII.slash || byte == ASCII.question || byte == UInt8(ascii: "#")
    }

    private static func isSchemeCharacter(_ byte: UInt8) -> Bool {
        ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }

    private static func checkOctet(_ byte: UInt8) throws(RequestTargetFault) {
        if byte == UInt8(ascii: "#") { throw .fragment }
        if byte <= 0x20 || byte == 0x7F { throw .illegalOctet }
    }

    private static func isEncodedNUL(at index: Int, in bytes: Span<UInt8>) -> Bool {
        index + 2 < bytes.count && bytes[index] == UInt8(ascii: "%")
            && bytes[index + 1] == UInt8(ascii: "0") && bytes[index + 2] == UInt8(ascii: "0")
    }
}

extension Span<UInt8> {
    /// The place of the first octet that a target's path (query) cannot pass over, or the end: what is not allowed,
    /// and in a path also `%`, `?` and `\`. Some more are named that are harmless.
    fileprivate func firstNotable(from start: Int, isPath: Bool) -> Int {
        isPath
            ? first(
                in: start..<count,
                block: {
                    $0.isBelow(UInt8(ascii: "&")) .| $0.isEqual(to: 0x7F)
                        .| $0.isEqual(to: ASCII.question) .| $0.isEqual(to: ASCII.backslash)
                },
                octet: { $0 < UInt8(ascii: "&") || $0 == 0x7F || $0 == ASCII.question || $0 == ASCII.backslash })
            : first(
                in: start..<count,
                block: { $0.isBelow(UInt8(ascii: "&")) .| $0.isEqual(to: 0x7F) },
                octet: { $0 < UInt8(ascii: "&") || $0 == 0x7F })
    }
}
