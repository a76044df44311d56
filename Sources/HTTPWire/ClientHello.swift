/// The parts of a client's first TLS message that name the server and the protocols that the client offers (RFC 8446 §4.1.2, RFC 6066
/// §3).
package struct ClientHello: Equatable, Sendable {
    /// The `host_name` in the extension `server_name` as received, not validated. `nil` if the client sends no name.
    package var serverName: [UInt8]?
    /// Whether the message has the extension `encrypted_client_hello`, or ESNI, its predecessor in drafts. The extension may contain
    /// another name. It may also contain no name at all (GREASE), which looks the same.
    package var hasEncryptedHello = false
    /// The offered application protocols; `nil` if the client sends no ALPN extension (RFC 7301).
    package var protocols: ApplicationProtocols?

    package init() {}

    /// Whether the client offers HTTP/2 inside TLS.
    package var offersHTTP2: Bool { protocols?.contains(.http2) == true }
    /// Whether the client may use HTTP/1 inside TLS: it offers HTTP/1, or sends no ALPN extension.
    package var mayMeanHTTP1: Bool { protocols.map { !$0.isDisjoint(with: [.http1, .http10]) } ?? true }
}

/// The application protocols that a client offers (RFC 7301 §3.1). All protocols except HTTP/1.1, HTTP/2 and HTTP/1.0 are `other`.
package struct ApplicationProtocols: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The protocol HTTP/1.1.
    package static let http1 = ApplicationProtocols(rawValue: 1)
    package static let http2 = ApplicationProtocols(rawValue: 2)
    package static let other = ApplicationProtocols(rawValue: 4)
    package static let http10 = ApplicationProtocols(rawValue: 8)

    init(named name: Span<UInt8>) {
        if name.equals("http/1.1") {
            self = .http1
        } else if name.equals("h2") {
            self = .http2
        } else if name.equals("http/1.0") {
            self = .http10
        } else {
            self = .other
        }
    }
}

/// Why the bytes are not a valid ClientHello. Its `reason` appears in logs.
package enum ClientHelloFault: Error, Equatable, Sendable {
    /// The bytes start like a TLS record, but contain no valid ClientHello.
    case malformed
    /// The ClientHello is longer than `ParseLimits.clientHelloLength`.
    case tooLong

    package var reason: StaticString {
        switch self {
        case .malformed: "malformed_client_hello"
        case .tooLong: "client_hello_too_long"
        }
    }
}

extension ClientHello {
    /// Parses the message after its type and length, which have four bytes together. Rejects messages that servers might read
    /// differently: a repeated extension that this code reads, a list of several names, and lengths that contradict each other.
    init(message: Span<UInt8>) throws(ClientHelloFault) {
        var reader = OctetReader(message)
        // Skips legacy_version and random, then the session id, the cipher suites and the compression methods.
        try reader.skip(2 + 32)
        try reader.skipVector(lengthOctets: 1, of: 0...32)
        try reader.skipVector(lengthOctets: 2, of: 2...0xFFFE, by: 2)
        try reader.skipVector(lengthOctets: 1, of: 1...0xFF)
        // Before TLS 1.3 the extensions are optional (RFC 5246 §7.4.1.2).
        if reader.isAtEnd { return }
        guard try reader.number(octets: 2) == reader.leftCount else { throw .malformed }
        var hasServerName = false
        while !reader.isAtEnd {
            let type = try reader.number(octets: 2)
            let length = try reader.number(octets: 2)
            let end = try reader.end(behind: length)
            switch type {
            case Self.serverNameType:
                if hasServerName { throw .malformed }
                hasServerName = true
                serverName = try reader.serverName(upTo: end)
            case Self.protocolsType:
                if protocols != nil { throw .malformed }
                protocols = try reader.applicationProtocols(upTo: end)
            case Self.encryptedHelloType, Self.encryptedNameType:
                if hasEncryptedHello { throw .malformed }
                hasEncryptedHello = true
                reader.move(to: end)
            default: reader.move(to: end)
            }
        }
    }

    private static let serverNameType = 0
    private static let protocolsType = 16
    private static let encryptedHelloType = 0xFE0D
    /// ESNI, the predecessor of `encrypted_client_hello`. It encrypts only the name (draft-ietf-tls-esni-02 §4.1).
    private static let encryptedNameType = 0xFFCE
}

/// Reads bytes in order, never past their end.
private struct OctetReader: ~Escapable {
    private let octets: Span<UInt8>
    private var offset = 0

    @_lifetime(copy octets)
    init(_ octets: Span<UInt8>) { self.octets = octets }

    var isAtEnd: Bool { offset == octets.count }
    var leftCount: Int { octets.count - offset }

    @_lifetime(self: copy self)
    mutating func move(to end: Int) { offset = end }

    func end(behind count: Int) throws(ClientHelloFault) -> Int {
        guard count <= leftCount else { throw .malformed }
        return offset + count
    }

    @_lifetime(self: copy self)
    mutating func skip(_ count: Int) throws(ClientHelloFault) { offset = try end(behind: count) }

    /// Skips a vector: a length, and that many bytes (RFC 8446 §3.4).
    @_lifetime(self: copy self)
    mutating func skipVector(lengthOctets: Int, of counts: ClosedRange<Int>, by step: Int = 1) throws(ClientHelloFault) {
        let count = try number(octets: lengthOctets)
        guard counts.contains(count), count % step == 0 else { throw .malformed }
        try skip(count)
    }

    @_lifetime(self: copy self)
    mutating func number(octets count: Int) throws(ClientHelloFault) -> Int {
        let end = try end(behind: count)
        var number = 0
        while offset < end {
            number = number << 8 | Int(octets[offset])
            offset += 1
        }
        return number
    }

    /// Reads a list that has exactly one name, of the type `host_name`. No other type is defined (RFC 6066 §3).
    @_lifetime(self: copy self)
    mutating func serverName(upTo end: Int) throws(ClientHelloFault) -> [UInt8] {
        guard end - offset > 5, try number(octets: 2) == end - offset, try number(octets: 1) == 0,
            try number(octets: 2) == end - offset
        else { throw .malformed }
        var name: [UInt8] = []
        name.append(octets.extracting(offset..<end))
        offset = end
        return name
    }

    /// Reads a list of one or more protocol names, none of which is empty (RFC 7301 §3.1).
    @_lifetime(self: copy self)
    mutating func applicationProtocols(upTo end: Int) throws(ClientHelloFault) -> ApplicationProtocols {
        guard end - offset > 3, try number(octets: 2) == end - offset else { throw .malformed }
        var protocols: ApplicationProtocols = []
        while offset < end {
            let length = try number(octets: 1)
            guard length > 0, length <= end - offset else { throw .malformed }
            protocols.formUnion(ApplicationProtocols(named: octets.extracting(offset..<offset + length)))
            offset += length
        }
        return protocols
    }
}
