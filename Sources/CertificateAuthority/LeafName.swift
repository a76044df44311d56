internal import CLarderOpenSSL
internal import HTTPMessage
internal import ServerTrust

/// The subject of a leaf: a host name in A-labels (RFC 5890 §2.3.2.1), or an address. Every accepted name is one by which `ServerTrust`
/// can verify a server: it has no NUL, no empty label, no label longer than 63 bytes, and at most 253 bytes.
public struct LeafName: Hashable, Sendable {
    /// Why a text is not a valid name for a leaf.
    public enum Fault: Error, Equatable, Sendable {
        /// A name that is not ASCII must be given in A-labels (`xn--…`).
        case notASCII
        /// A star that is not permitted, or that is not the first of at least three labels.
        case wildcard
        /// The text is neither a name in A-labels nor an address, or it is too long.
        case malformed
    }

    enum Kind: Hashable {
        /// The name in lower case; may begin with `*.`.
        case name([UInt8])
        case address(IPAddress)
    }

    let kind: Kind

    /// - Parameters:
    ///   - host: as in a URI; an IPv6 address with or without brackets.
    ///   - permitsWildcard: whether to accept `*.example.com`, which covers every host one label below.
    public init(_ host: String, permitsWildcard: Bool = false) throws(Fault) {
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else { throw .notASCII }
        if host.utf8.contains(UInt8(ascii: "*")) {
            guard permitsWildcard, host.hasPrefix("*.") else { throw .wildcard }
            guard case .name(let parent)? = ReferenceIdentity(String(host.dropFirst(2))), parent.contains(UInt8(ascii: ".")),
                parent.count + 2 <= Authority.hostLengthLimit
            else { throw .wildcard }
            kind = .name(Array("*.".utf8) + parent)
            return
        }
        switch ReferenceIdentity(host) {
        case .name(let name): kind = .name(name)
        case .address(let address): kind = .address(address)
        case nil: throw .malformed
        }
    }

    /// The name as the only identity (RFC 5280 §4.2.1.6): critical, since the subject is empty.
    var certificateExtension: CertificateExtension {
        let name =
            switch kind {
            case .name(let name): DERElement.encoded(GeneralNameTag.name, name)
            case .address(let address): DERElement.encoded(GeneralNameTag.address, address.networkOctets)
            }
        return .octets(NID_subject_alt_name, DERElement.encoded(DERElement.sequence, name), isCritical: true)
    }
}

extension LeafName: CustomStringConvertible {
    public var description: String {
        switch kind {
        case .name(let name): String(decoding: name, as: UTF8.self)
        case .address(let address): address.description
        }
    }
}

extension IPAddress {
    /// The address as encoded in certificates (RFC 5280 §4.2.1.6).
    var networkOctets: [UInt8] {
        func octets(_ number: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (count - 1 - $0))) }
        }
        return family == .ipv4 ? octets(low, 4) : octets(high, 8) + octets(low, 8)
    }
}
