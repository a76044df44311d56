import HTTPMessage

/// The pattern of a host in a rule: `example.com` matches only that host, `*.example.com` matches each host below it but not
/// `example.com` itself, and `*` matches any host. An address matches itself in any notation.
package enum HostPattern: Hashable, Sendable {
    case any
    /// A name in lower case, without a final dot.
    case name([UInt8])
    /// The name after `*.`, in lower case, without a final dot.
    case below([UInt8])
    /// An address. An IPv4-mapped address is stored as its IPv4 address, because a connection to `[::ffff:a00:1]` goes to `10.0.0.1`.
    case address(IPAddress)

    package enum Fault: Error, Equatable {
        case empty, tooLong
        /// The text contains a scheme, a path or credentials, which are not part of a host.
        case moreThanHost
        /// The text contains a port, which rules give under a separate key.
        case port
        case starNotInFront
        case emptyLabel
        /// The text looks like an address, but no request could contain this address.
        case malformedAddress
        case notInHosts(Unicode.Scalar)
    }

    package init(_ text: String) throws(Fault) {
        if text == "*" {
            self = .any
        } else if text.hasPrefix("*.") {
            let name = try Self.name(text.dropFirst(2))
            if Self.looksLikeAddress(name) { throw .starNotInFront }
            self = .below(name)
        } else if text.hasPrefix("[") || text.utf8.count(where: { $0 == ASCII.colon }) > 1 {
            self = .address(try Self.ipv6(text))
        } else {
            let name = try Self.name(text[...])
            self = Self.looksLikeAddress(name) ? .address(try Self.ipv4(name)) : .name(name)
        }
    }

    /// The IPv4 address for an IPv6 address that embeds one; any other address unchanged. A translator or relay on the path may forward
    /// a connection to that IPv4 address, or to another host. So a rule that denies `10.0.0.1` also denies `[64:ff9b::a00:1]`, but a
    /// rule that allows `10.0.0.1` does not allow `[64:ff9b::a00:1]`.
    package static func canonical(_ address: IPAddress) -> IPAddress { address.embeddedIPv4 ?? address }

    /// Whether the pattern matches the host of this request's target.
    /// - Parameter readings: with `.every`, an address matches only itself and its IPv4-mapped form.
    func matches(_ request: RequestHead, as readings: MatchedReadings) -> Bool {
        let host = request.span(of: request.target.host)
        switch self {
        case .any: return true
        case .name(let name): return request.target.hostKind == .name && host.equalsIgnoringCase(name.span)
        case .below(let name):
            let start = host.count - name.count
            guard request.target.hostKind == .name, start > 1, host[start - 1] == UInt8(ascii: ".") else { return false }
            return host.extracting(start..<host.count).equalsIgnoringCase(name.span)
        case .address(let address):
            guard let other = IPAddress(asLookedUp: host) else { return false }
            if readings == .every { return other.unmapped == address }
            if let teredo = other.teredoAddresses, address == teredo.client || address == teredo.server { return true }
            return Self.canonical(other) == Self.canonical(address)
        }
    }

    private static func ipv6(_ text: String) throws(Fault) -> IPAddress {
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        if text.hasPrefix("["), !isBracketed, text.contains("]:") { throw .port }
        guard let address = IPAddress(isBracketed ? String(text.dropFirst().dropLast()) : text) else { throw .malformedAddress }
        return address.unmapped
    }

    private static func ipv4(_ name: [UInt8]) throws(Fault) -> IPAddress {
        guard let address = IPAddress(name.span) else { throw .malformedAddress }
        return address
    }

    /// No top-level domain is numeric. A request whose host has a numeric last label names an address or is refused.
    private static func looksLikeAddress(_ name: [UInt8]) -> Bool {
        guard let end = name.lastIndex(where: { $0 != UInt8(ascii: ".") }) else { return false }
        let start = name[..<end].lastIndex(of: UInt8(ascii: ".")).map { $0 + 1 } ?? 0
        let last = name[start...end]
        let isHexadecimal = last.starts(with: Array("0x".utf8))
        return isHexadecimal ? last.dropFirst(2).allSatisfy { ASCII.hexValue($0) != nil } : last.allSatisfy(ASCII.isDigit)
    }

    /// The name in lower case; `nil` if it is not valid. One pass, because settings may have thousands of hosts.
    private static func plainName(_ text: Substring.UTF8View) -> [UInt8]? {
        var name: [UInt8] = []
        name.reserveCapacity(text.count)
        var labelLength = 0
        for byte in text {
            if byte == UInt8(ascii: ".") {
                if labelLength == 0 { return nil }
                labelLength = 0
            } else {
                guard ASCII.isWord(byte) || byte == UInt8(ascii: "-") else { return nil }
                labelLength += 1
                if labelLength > Authority.labelLengthLimit { return nil }
            }
            name.append(ASCII.lowercased(byte))
        }
        return labelLength > 0 && name.count <= Authority.hostLengthLimit ? name : nil
    }

    private static func name(_ text: Substring) throws(Fault) -> [UInt8] {
        let text = text.hasSuffix(".") ? text.dropLast() : text
        if text.isEmpty { throw .empty }
        if let name = plainName(text.utf8) { return name }
        let bytes = text.utf8
        if bytes.contains(ASCII.slash) || bytes.contains(UInt8(ascii: "@")) { throw .moreThanHost }
        if bytes.contains(ASCII.colon) { throw .port }
        if bytes.contains(UInt8(ascii: "*")) { throw .starNotInFront }
        let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if labels.contains(where: \.isEmpty) { throw .emptyLabel }
        for scalar in text.unicodeScalars {
            let isNameCharacter = scalar.isASCII && (ASCII.isWord(UInt8(scalar.value)) || scalar == "-" || scalar == ".")
            guard isNameCharacter else { throw .notInHosts(scalar) }
        }
        let name = bytes.map(ASCII.lowercased)
        let hasLongLabel = labels.contains { $0.count > Authority.labelLengthLimit }
        guard name.count <= Authority.hostLengthLimit, !hasLongLabel else { throw .tooLong }
        return name
    }
}
