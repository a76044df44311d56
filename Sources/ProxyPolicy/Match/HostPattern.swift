import HTTPMessage

/// A host as rules name it: `example.com` is that host alone, `*.example.com` each host below it (not itself), `*` any;
/// an address is itself in every spelling.
package enum HostPattern: Hashable, Sendable {
    case any
    /// In lower case, without a final dot.
    case name([UInt8])
    /// What stands behind `*.`, as in `name`.
    case below([UInt8])
    /// In the form of `canonical(_:)`.
    case address(IPAddress)

    package enum Fault: Error, Equatable {
        case empty, tooLong
        /// A scheme, a path or credentials stand in it.
        case moreThanHost
        /// The port has a key of its own.
        case port
        case starNotInFront
        case emptyLabel
        /// Looks like an address, and is none that a request could name.
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

    /// An IPv6 address that stands for an IPv4 one is that one: a rule for `10.0.0.1` also sees `[::ffff:a00:1]`.
    package static func canonical(_ address: IPAddress) -> IPAddress { address.embeddedIPv4 ?? address }

    private static func ipv6(_ text: String) throws(Fault) -> IPAddress {
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        if text.hasPrefix("["), !isBracketed, text.contains("]:") { throw .port }
        guard let address = IPAddress(isBracketed ? String(text.dropFirst().dropLast()) : text) else { throw .malformedAddress }
        return canonical(address)
    }

    private static func ipv4(_ name: [UInt8]) throws(Fault) -> IPAddress {
        guard let address = IPAddress(name.span) else { throw .malformedAddress }
        return address
    }

    /// A last label that is a number is no top-level domain: requests with it name an address or are refused.
    private static func looksLikeAddress(_ name: [UInt8]) -> Bool {
        guard let last = name.split(separator: UInt8(ascii: ".")).last else { return false }
        let isHexadecimal = last.starts(with: Array("0x".utf8))
        return isHexadecimal ? last.dropFirst(2).allSatisfy { ASCII.hexValue($0) != nil } : last.allSatisfy(ASCII.isDigit)
    }

    private static func name(_ text: Substring) throws(Fault) -> [UInt8] {
        let text = text.hasSuffix(".") ? text.dropLast() : text
        if text.isEmpty { throw .empty }
        if text.contains("/") || text.contains("@") { throw .moreThanHost }
        if text.contains(":") { throw .port }
        if text.contains("*") { throw .starNotInFront }
        if text.hasPrefix(".") || text.hasSuffix(".") || text.contains("..") { throw .emptyLabel }
        for scalar in text.unicodeScalars {
            let isLetterOrDigit = scalar.isASCII && (ASCII.isAlpha(UInt8(scalar.value)) || ASCII.isDigit(UInt8(scalar.value)))
            guard isLetterOrDigit || scalar == "-" || scalar == "_" || scalar == "." else { throw .notInHosts(scalar) }
        }
        let name = text.utf8.map(ASCII.lowercased)
        let hasLongLabel = name.split(separator: UInt8(ascii: ".")).contains { $0.count > Authority.labelLengthLimit }
        guard name.count <= Authority.hostLengthLimit, !hasLongLabel else { throw .tooLong }
        return name
    }
}
