/// What is wrong with a host and port.
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

/// `uri-host [ ":" port ]` as places in the bytes that hold it (RFC 9110 §4.2.1, §7.2).
///
/// Stricter than the grammar of RFC 3986, so that all who read the name read the same one:
/// - userinfo is an error (RFC 9110 §4.2.4), and so is any octet besides letters, digits, `-`, `_` and `.`:
///   names that are not ASCII come as their A-labels, and nothing is percent-encoded;
/// - `2130706433`, `0x7f.1` and `0177.0.0.1` are names here; who looks them up knows which address they stand for
///   (`IPAddress.init(asLookedUp:)`);
/// - the dot at the end of a fully qualified name is left out of `host`, so that rules and keys see one spelling.
package struct Authority: Equatable, Sendable {
    package static let hostLengthLimit = 253
    package static let labelLengthLimit = 63

    /// The host as written, without brackets and without a final dot.
    package var host: Extent
    package var hostKind: RequestTarget.HostKind
    /// The port as written; `nil` where there is none or nothing behind its colon.
    package var port: UInt16?

    package init(parsing range: Range<Int>, in bytes: Span<UInt8>) throws(AuthorityFault) {
        guard !range.isEmpty else { throw .emptyHost }
        let hostEnd: Int
        if bytes[range.lowerBound] == UInt8(ascii: "[") {
            hostEnd = try Self.endOfBracketedHost(range, in: bytes)
            host = Extent(range.lowerBound + 1..<hostEnd - 1)
            hostKind = .ipv6
        } else {
            hostEnd = try Self.endOfName(range, in: bytes)
            var nameEnd = hostEnd
            if nameEnd > range.lowerBound, bytes[nameEnd - 1] == UInt8(ascii: ".") { nameEnd -= 1 }
            host = Extent(range.lowerBound..<nameEnd)
            hostKind = try Self.kind(ofName: range.lowerBound..<nameEnd, in: bytes)
        }
        port = try Self.port(in: hostEnd..<range.upperBound, of: bytes)
    }

    // MARK: Names

    /// Where the name ends: at the colon of the port or at the end of the range.
    private static func endOfName(_ range: Range<Int>, in bytes: Span<UInt8>) throws(AuthorityFault) -> Int {
        var labelStart = range.lowerBound
        var index = range.lowerBound
        while index < range.upperBound {
            let byte = bytes[index]
            if !isNameCharacter(byte) {
                if byte == ASCII.colon { break }
                guard byte == UInt8(ascii: "."), index > labelStart, index - labelStart <= labelLengthLimit else {
                    throw fault(in: range, of: bytes)
                }
                labelStart = index + 1
            }
            index += 1
        }
        if index == range.lowerBound { throw faultOfEmptyName(range, in: bytes) }
        guard index - labelStart <= labelLengthLimit, index - range.lowerBound <= hostLengthLimit + 1 else {
            throw .malformedHost
        }
        return index
    }

    /// Letters, digits, `-` and `_`, one bit for each octet below 128.
    private static func isNameCharacter(_ byte: UInt8) -> Bool {
        if byte < 64 { return (0x03FF_2000_0000_0000 as UInt64) >> UInt64(byte) & 1 == 1 }
        return byte < 128 && (0x07FF_FFFE_87FF_FFFE as UInt64) >> UInt64(byte & 63) & 1 == 1
    }

    private static func fault(in range: Range<Int>, of bytes: Span<UInt8>) -> AuthorityFault {
        for index in range where bytes[index] == UInt8(ascii: "@") { return .userinfo }
        return .malformedHost
    }

    private static func faultOfEmptyName(_ range: Range<Int>, in bytes: Span<UInt8>) -> AuthorityFault {
        fault(in: range, of: bytes) == .userinfo ? .userinfo : .emptyHost
    }

    private static func kind(
        ofName range: Range<Int>, in bytes: Span<UInt8>
    ) throws(AuthorityFault) -> RequestTarget.HostKind {
        guard range.count <= hostLengthLimit, let last = range.last else { throw .malformedHost }
        // Most names end in a letter, which is all that needs to be known of them.
        return ASCII.isDigit(bytes[last]) && IPAddress(bytes.extracting(range)) != nil ? .ipv4 : .name
    }

    // MARK: Addresses and ports

    private static func endOfBracketedHost(_ range: Range<Int>, in bytes: Span<UInt8>) throws(AuthorityFault) -> Int {
        var end = range.lowerBound + 1
        while end < range.upperBound, bytes[end] != UInt8(ascii: "]") { end += 1 }
        guard end < range.upperBound else { throw .malformedHost }
        // A zone (RFC 6874) or a future version of the address names nothing that may be asked for.
        guard IPAddress(bytes.extracting(range.lowerBound + 1..<end))?.family == .ipv6 else { throw .malformedHost }
        return end + 1
    }

    private static func port(in range: Range<Int>, of bytes: Span<UInt8>) throws(AuthorityFault) -> UInt16? {
        guard !range.isEmpty else { return nil }
        guard bytes[range.lowerBound] == ASCII.colon else { throw fault(in: range, of: bytes) }
        let digits = range.lowerBound + 1..<range.upperBound
        guard !digits.isEmpty else { return nil }
        var port: UInt32 = 0
        for index in digits {
            guard ASCII.isDigit(bytes[index]), digits.count <= 5 else {
                throw fault(in: range, of: bytes) == .userinfo ? .userinfo : .malformedPort
            }
            port = port * 10 + UInt32(bytes[index] - 0x30)
        }
        guard port > 0, port <= UInt16.max else { throw .malformedPort }
        return UInt16(port)
    }
}
