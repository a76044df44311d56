/// What a client's first message in TLS tells of whom it means to reach (RFC 8446 §4.1.2, RFC 6066 §3).
package struct ClientHello: Equatable, Sendable {
    /// The `host_name` of `server_name` as it came: no name is made of these bytes here. `nil` where the client names nobody.
    package var serverName: [UInt8]?
    /// An `encrypted_client_hello` is in it: another name may stand in there, or nothing at all, which looks the same (GREASE).
    package var hasEncryptedHello = false
    /// `nil` where the client leaves open what is spoken inside (RFC 7301).
    package var protocols: ApplicationProtocols?

    package init() {}

    /// Whether what is spoken inside may be HTTP/1: the client offers it, or says nothing.
    package var mayMeanHTTP1: Bool { protocols.map { !$0.isDisjoint(with: [.http1, .http10]) } ?? true }
}

/// What a client offers to speak inside TLS (RFC 7301 §3.1), of which three are told apart.
package struct ApplicationProtocols: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// HTTP/1.1.
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

/// Why no ClientHello can be made of what came: in a closed list, whose words stand in logs.
package enum ClientHelloFault: Error, Equatable, Sendable {
    /// It begins as a record of TLS, and goes on as none that holds a ClientHello.
    case malformed
    /// Longer than `ParseLimits.clientHelloLength`.
    case tooLong

    package var reason: StaticString {
        switch self {
        case .malformed: "malformed_client_hello"
        case .tooLong: "client_hello_too_long"
        }
    }
}

extension ClientHello {
    /// Reads the message behind its four bytes of type and length. What a server might read in two ways is refused: a name that stands
    /// twice, a list of several, lengths that do not agree.
    init(message: Span<UInt8>) throws(ClientHelloFault) {
        var reader = OctetReader(message)
        // legacy_version and random, then the session, the cipher suites and the compression methods.
        try reader.skip(2 + 32)
        try reader.skipVector(lengthOctets: 1, of: 0...32)
        try reader.skipVector(lengthOctets: 2, of: 2...0xFFFE, by: 2)
        try reader.skipVector(lengthOctets: 1, of: 1...0xFF)
        // Before TLS 1.3 there may be no extensions (RFC 5246 §7.4.1.2).
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
            case Self.encryptedHelloType:
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
}

/// Bytes read one after the other, with no step past their end.
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

    /// What stands behind its own length (RFC 8446 §3.4).
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

    /// A list of exactly one name, of the one type that there is (RFC 6066 §3).
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

    /// One or more names, none of them empty (RFC 7301 §3.1).
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
