internal import CLarderOpenSSL
internal import HTTPMessage

/// The names that a certificate is for (RFC 5280 §4.2.1.6). Only subjectAltName counts: the common name in the subject is no longer used
/// for servers (RFC 9525 §2).
struct SubjectAlternativeNames {
    /// An invalid name or address, for example a name with a NUL, a control character or a byte above ASCII, or an address of three
    /// bytes.
    struct Malformed: Error {}

    private(set) var dnsNames: [[UInt8]] = []
    private(set) var addresses: [IPAddress] = []

    init(of certificate: Certificate) throws(Malformed) {
        var critical: Int32 = 0
        guard let extensionValue = X509_get_ext_d2i(certificate.pointer, NID_subject_alt_name, &critical, nil) else {
            // The code is -1 if there is no subjectAltName, -2 if there are two, and another value if it is malformed.
            guard critical == -1 else { throw Malformed() }
            return
        }
        let names = OpaquePointer(extensionValue)
        defer { GENERAL_NAMES_free(names) }
        for index in 0..<copenssl_names_count(names) {
            guard let name = copenssl_names_at(names, index) else { throw Malformed() }
            if copenssl_is_named(name, GEN_DNS) == 1 {
                dnsNames.append(try Self.name(Self.octets(of: name)))
            } else if copenssl_is_named(name, GEN_IPADD) == 1 {
                addresses.append(try Self.address(Self.octets(of: name)))
            }
        }
    }

    var isEmpty: Bool { dnsNames.isEmpty && addresses.isEmpty }

    func texts(limit: Int) -> [String] {
        let names = dnsNames.lazy.map { Certificate.escaped($0) }
        let addresses = addresses.lazy.map { $0.description }
        return Array((Array(names.prefix(limit)) + addresses.prefix(limit)).prefix(limit))
    }

    private static func octets(of name: UnsafePointer<GENERAL_NAME>) throws(Malformed) -> [UInt8] {
        guard let string = copenssl_name_string(name) else { throw Malformed() }
        let count = Int(ASN1_STRING_length(string))
        guard count > 0, let bytes = ASN1_STRING_get0_data(string) else { return [] }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    private static func name(_ octets: [UInt8]) throws(Malformed) -> [UInt8] {
        guard octets.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw Malformed() }
        return octets
    }

    private static func address(_ octets: [UInt8]) throws(Malformed) -> IPAddress {
        func number(_ range: Range<Int>) -> UInt64 { octets[range].reduce(0) { $0 << 8 | UInt64($1) } }
        switch octets.count {
        case 4: return IPAddress(ipv4: UInt32(number(0..<4)))
        case 16: return IPAddress(ipv6High: number(0..<8), low: number(8..<16))
        default: throw Malformed()
        }
    }
}
