/// Why a host and port are rejected.
package enum AuthorityFault: Error, Equatable, Sendable {
    case userinfo, emptyHost, malformedHost, malformedPort

    package var reason: StaticString {
        switch self {
        case .userinfo: "userinfo_in_authority"
        case .emptyHost: "empty_host"
        case .malformedHost: "malformed_host"
        case .malformedPort: "malformed_port"
        }
    }
}

/// `uri-host [ ":" port ]` as positions in the bytes that hold it (RFC 9110 §4.2.1, §7.2).
///
/// The rules are stricter than RFC 3986, so that every recipient reads the same name:
///
/// - Userinfo is an error (RFC 9110 §4.2.4). So is any byte besides letters, digits, `-`, `_` and `.`: non-ASCII names must be
///   A-labels, and percent-encoding is not allowed.
/// - `2130706433`, `0x7f.1` and `0177.0.0.1` are treated as names here; `IPAddress.init(asLookedUp:)` gives the address to which a name
///   lookup would resolve them.
/// - `host` excludes the final dot of a fully qualified name, so that rules and keys get the same spelling with and without the dot.
package struct Authority: Equatable, Sendable {
    package static let hostLengthLimit = 253
    package static let labelLengthLimit = 63

    /// The host as written, without brackets and without a final dot.
    package var host: Extent
    package var hostKind: RequestTarget.HostKind
    /// The port as written; `nil` if it is missing or empty.
    package var port: UInt16?

    package init(parsing range: Range<Int>, in bytes: Span<UInt8>) throws(AuthorityFault) {
        var end = 0
        try self.init(startingAt: range.lowerBound, in: bytes.extracting(0..<range.upperBound), end: &end)
        guard end == range.upperBound else { throw Self.fault(at: end, in: bytes.extracting(0..<range.upperBound)) }
    }

    /// Reads the bytes from `start` up to the end of the authority. The caller checks the byte that follows.
    init(startingAt start: Int, in bytes: Span<UInt8>, end: inout Int) throws(AuthorityFault) {
        if start < bytes.count, bytes[start] == UInt8(ascii: "[") {
            end = try Self.endOfBracketedHost(from: start, in: bytes)
            host = Extent(offset: start + 1, count: end - start - 2)
            hostKind = .ipv6
        } else {
            end = bytes.endOfHostName(from: start)
            guard end > start else { throw Self.faultOfEmptyName(at: end, in: bytes) }
            let nameEnd = bytes[end - 1] == UInt8(ascii: ".") ? end - 1 : end
            try Self.checkLabels(from: start, to: nameEnd, in: bytes)
            host = Extent(offset: start, count: nameEnd - start)
            hostKind = Self.kind(ofName: bytes.extracting(start..<nameEnd))
        }
        port = nil
        if end < bytes.count, bytes[end] == ASCII.colon { port = try Self.port(from: end + 1, in: bytes, end: &end) }
    }

    // MARK: Names

    private static func checkLabels(from start: Int, to end: Int, in bytes: Span<UInt8>) throws(AuthorityFault) {
        guard end - start <= hostLengthLimit, end > start else { throw .malformedHost }
        var labelStart = start
        for index in start..<end where bytes[index] == UInt8(ascii: ".") {
            guard index > labelStart, index - labelStart <= labelLengthLimit else { throw .malformedHost }
            labelStart = index + 1
        }
        guard end > labelStart, end - labelStart <= labelLengthLimit else { throw .malformedHost }
    }

    private static func kind(ofName name: Span<UInt8>) -> RequestTarget.HostKind {
        // Most names end in a letter, so they cannot be IPv4 addresses and need not be parsed as such.
        ASCII.isDigit(name[name.count - 1]) && IPAddress(dottedDecimal: name) != nil ? .ipv4 : .name
    }

    /// The error for an authority that ends too early. Userinfo has its own error.
    static func fault(at stop: Int, in bytes: Span<UInt8>) -> AuthorityFault {
        var index = stop
        while index < bytes.count, bytes[index] != ASCII.slash, bytes[index] != ASCII.question {
            if bytes[index] == UInt8(ascii: "@") { return .userinfo }
            index += 1
        }
        return .malformedHost
    }

    private static func faultOfEmptyName(at stop: Int, in bytes: Span<UInt8>) -> AuthorityFault {
        if fault(at: stop, in: bytes) == .userinfo { return .userinfo }
        let isEmpty =
            stop == bytes.count || bytes[stop] == ASCII.colon || bytes[stop] == ASCII.slash || bytes[stop] == ASCII.question
        return isEmpty ? .emptyHost : .malformedHost
    }

    // MARK: Addresses and ports

    private static func endOfBracketedHost(from start: Int, in bytes: Span<UInt8>) throws(AuthorityFault) -> Int {
        var end = start + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "]") { end += 1 }
        // A host with a zone (RFC 6874), or with the address format of a future IP version, is rejected: clients may not request it.
        guard end < bytes.count, IPAddress(bytes.extracting(start + 1..<end))?.family == .ipv6 else {
            throw .malformedHost
        }
        return end + 1
    }

    private static func port(from start: Int, in bytes: Span<UInt8>, end: inout Int) throws(AuthorityFault) -> UInt16? {
        var port: UInt32 = 0
        var index = start
        while index < bytes.count, ASCII.isDigit(bytes[index]) {
            guard index - start < 5 else { throw .malformedPort }
            port = port * 10 + UInt32(bytes[index] - 0x30)
            index += 1
        }
        end = index
        let isOver = index == bytes.count || bytes[index] == ASCII.slash || bytes[index] == ASCII.question
        guard isOver || bytes[index] == UInt8(ascii: "#") else {
            throw fault(at: index, in: bytes) == .userinfo ? .userinfo : .malformedPort
        }
        if index == start { return nil }
        guard port > 0, port <= UInt16.max else { throw .malformedPort }
        return UInt16(port)
    }
}

extension Span<UInt8> {
    /// The index after the run of letters, digits, `-`, `_` and `.` that begins at `start`.
    fileprivate func endOfHostName(from start: Int) -> Int {
        first(
            from: start,
            block: {
                .!($0.isWithin(0x61...0x7A) .| $0.isWithin(0x41...0x5A) .| $0.isWithin(0x30...0x39)
                    .| $0.isEqual(to: UInt8(ascii: "-")) .| $0.isEqual(to: UInt8(ascii: "."))
                    .| $0.isEqual(to: UInt8(ascii: "_")))
            },
            octet: {
                !(ASCII.isAlpha($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
                    || $0 == UInt8(ascii: "_"))
            })
    }
}
