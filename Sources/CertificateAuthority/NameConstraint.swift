internal import CLarderOpenSSL
internal import HTTPMessage
package import ServerTrust

/// The only hosts that a CA may certify (RFC 5280 §4.2.1.10): a stolen key cannot impersonate any other host.
///
/// Everything that is not permitted is excluded explicitly. If no address range is permitted, all addresses are excluded; if no domain is
/// permitted, all names are.
public struct NameConstraint: Equatable, Sendable {
    /// Why a list is not a valid constraint.
    public enum Fault: Error, Equatable, Sendable {
        /// The list is empty, or has more than `itemLimit` items.
        case count
        /// The item is neither a domain nor an address range.
        case malformed(String)
        /// The item begins with a star or a dot, such as `*.corp.test`. It must be `corp.test`, which includes all names below it.
        case pattern(String)
    }

    /// The maximum number of domains and ranges in total.
    public static let itemLimit = 100

    private let domains: [[UInt8]]
    private let ranges: [AddressRange]

    /// - Parameter permitted: domains, each with everything below it (`corp.test`), and addresses or ranges (`10.0.0.0/8`).
    public init(_ permitted: [String]) throws(Fault) {
        guard (1...Self.itemLimit).contains(permitted.count) else { throw .count }
        var domains: [[UInt8]] = []
        var ranges: [AddressRange] = []
        for item in permitted {
            if item.hasPrefix("*") || item.hasPrefix(".") { throw .pattern(item) }
            if let range = AddressRange(item) {
                if !ranges.contains(range) { ranges.append(range) }
            } else if case .name(let domain)? = ReferenceIdentity(item) {
                if !domains.contains(domain) { domains.append(domain) }
            } else {
                throw .malformed(item)
            }
        }
        self.init(domains: domains, ranges: ranges)
    }

    private init(domains: [[UInt8]], ranges: [AddressRange]) {
        self.domains = domains
        self.ranges = ranges
    }

    /// The permitted items in the form in which they were given, domains first.
    public var permitted: [String] {
        domains.map { String(decoding: $0, as: UTF8.self) } + ranges.map { "\($0.base)/\($0.prefixLength)" }
    }

    /// Whether clients would accept a leaf with this name.
    public func permits(_ name: LeafName) -> Bool {
        switch name.kind {
        case .name(let name):
            domains.contains { domain in
                name == domain || (name.count > domain.count && name.hasSuffix(domain, behind: UInt8(ascii: ".")))
            }
        case .address(let address):
            // Compares bytes, as clients do: an IPv4 address embedded in an IPv6 address is a different address.
            ranges.contains { AddressRange(base: address, prefixLength: Int($0.prefixLength))?.base == $0.base }
        }
    }

    // MARK: Encoding in certificates

    var certificateExtension: CertificateExtension {
        .octets(NID_name_constraints, DERElement.encoded(DERElement.sequence, subtrees), isCritical: true)
    }

    private var subtrees: [UInt8] {
        let permitted =
            domains.map { DERElement.encoded(GeneralNameTag.name, $0) }
            + ranges.map { DERElement.encoded(GeneralNameTag.address, $0.networkOctets) }
        var excluded: [[UInt8]] = []
        // An empty name matches all names.
        if domains.isEmpty { excluded.append(DERElement.encoded(GeneralNameTag.name, [])) }
        for (family, count) in [(IPAddress.Family.ipv4, 4), (.ipv6, 16)]
        where !ranges.contains(where: { $0.base.family == family }) {
            excluded.append(DERElement.encoded(GeneralNameTag.address, [UInt8](repeating: 0, count: 2 * count)))
        }
        return Self.list(GeneralNameTag.permitted, permitted) + Self.list(GeneralNameTag.excluded, excluded)
    }

    private static func list(_ tag: UInt8, _ names: [[UInt8]]) -> [UInt8] {
        names.isEmpty ? [] : DERElement.encoded(tag, names.flatMap { DERElement.encoded(DERElement.sequence, $0) })
    }

    /// Reads the constraint of a root.
    /// - Returns: `nil` if the root has no constraint.
    /// - Throws: `unknownConstraint` if this type would not encode it in exactly the same bytes: further content would be lost.
    package static func read(of root: Certificate) throws(AuthorityFault) -> NameConstraint? {
        let index = X509_get_ext_by_NID(root.pointer, NID_name_constraints, -1)
        if index < 0 { return nil }
        guard let part = X509_get_ext(root.pointer, index), X509_EXTENSION_get_critical(part) == 1,
            let data = X509_EXTENSION_get_data(part), let constraint = permitted(in: part)
        else { throw .unknownConstraint }
        let octets = UnsafeBufferPointer(start: ASN1_STRING_get0_data(data), count: Int(ASN1_STRING_length(data)))
        guard octets.elementsEqual(DERElement.encoded(DERElement.sequence, constraint.subtrees)) else { throw .unknownConstraint }
        return constraint
    }

    private static func permitted(in part: OpaquePointer) -> NameConstraint? {
        let read = ErrorQueue.unchanged { X509V3_EXT_d2i(part) }
        guard let read else { return nil }
        let constraints = read.assumingMemoryBound(to: NAME_CONSTRAINTS.self)
        defer { NAME_CONSTRAINTS_free(constraints) }
        var domains: [[UInt8]] = []
        var ranges: [AddressRange] = []
        for index in 0..<max(0, copenssl_subtrees_count(constraints.pointee.permittedSubtrees)) {
            // The type is checked first, because only DNS names and IP addresses are strings.
            guard let name = copenssl_subtrees_at(constraints.pointee.permittedSubtrees, index),
                copenssl_is_named(name, GEN_DNS) == 1 || copenssl_is_named(name, GEN_IPADD) == 1,
                let string = copenssl_name_string(name), let start = ASN1_STRING_get0_data(string)
            else { return nil }
            let octets = Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(string))))
            if copenssl_is_named(name, GEN_DNS) == 1 {
                domains.append(octets)
            } else if copenssl_is_named(name, GEN_IPADD) == 1, let range = AddressRange(networkOctets: octets) {
                ranges.append(range)
            } else {
                return nil
            }
        }
        return NameConstraint(domains: domains, ranges: ranges)
    }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ suffix: [UInt8], behind octet: UInt8) -> Bool {
        self[count - suffix.count - 1] == octet && self.suffix(suffix.count).elementsEqual(suffix)
    }
}

extension AddressRange {
    /// The address and its mask (RFC 5280 §4.2.1.10).
    fileprivate var networkOctets: [UInt8] {
        let width = base.family == .ipv4 ? 4 : 16
        let mask = (0..<width).map { place in
            let bits = Swift.min(8, Swift.max(0, Int(prefixLength) - 8 * place))
            return UInt8(truncatingIfNeeded: 0xFF00 >> bits)
        }
        return base.networkOctets + mask
    }

    fileprivate init?(networkOctets octets: [UInt8]) {
        func number(_ octets: ArraySlice<UInt8>) -> UInt64 { octets.reduce(0) { $0 << 8 | UInt64($1) } }
        let bits = octets.suffix(octets.count / 2).reduce(0) { $0 + $1.nonzeroBitCount }
        switch octets.count {
        case 8: self.init(base: IPAddress(ipv4: UInt32(number(octets[0..<4]))), prefixLength: bits)
        case 32: self.init(base: IPAddress(ipv6High: number(octets[0..<8]), low: number(octets[8..<16])), prefixLength: bits)
        default: return nil
        }
    }
}
