/// Evidence in the form in which it is stored with a response, so that another policy can evaluate it later.
///
/// A sequence of parts, each with a kind (1 byte), a length (4 bytes, big-endian) and that many bytes. First come the certificates in DER,
/// in the order in which they were sent. Then follow, if present, the stapled response, the timestamps and the TLS version (2 bytes).
extension ServerEvidence {
    private enum Part: UInt8 {
        case certificate = 1, stapledResponse, signedTimestamps, tlsVersion
    }

    package var record: [UInt8] {
        var record: [UInt8] = []
        func append(_ part: Part, _ octets: [UInt8]) {
            record.append(part.rawValue)
            let count = UInt32(octets.count)
            for shift in stride(from: 24, through: 0, by: -8) { record.append(UInt8(truncatingIfNeeded: count >> UInt32(shift))) }
            record += octets
        }
        for certificate in certificates { append(.certificate, certificate.der) }
        if let stapledResponse { append(.stapledResponse, stapledResponse) }
        if let signedTimestamps { append(.signedTimestamps, signedTimestamps) }
        if let tlsVersion {
            append(.tlsVersion, [UInt8(tlsVersion.rawValue >> 8), UInt8(truncatingIfNeeded: tlsVersion.rawValue)])
        }
        return record
    }

    /// - Returns: `nil` if the bytes are not a record. Malformed certificates make the evidence malformed, as in a handshake.
    package init?(record: [UInt8]) {
        var chain: [[UInt8]] = []
        var staple: [UInt8]?
        var timestamps: [UInt8]?
        var version: TLSVersion?
        var rest = record[...]
        while !rest.isEmpty {
            guard rest.count >= 5, let part = rest.popFirst().flatMap(Part.init(rawValue:)) else { return nil }
            let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard count <= rest.count else { return nil }
            let octets = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            switch part {
            case .certificate: chain.append(octets)
            case .stapledResponse: staple = octets
            case .signedTimestamps: timestamps = octets
            case .tlsVersion:
                guard octets.count == 2 else { return nil }
                version = TLSVersion(rawValue: UInt16(octets[0]) << 8 | UInt16(octets[1]))
            }
        }
        self.init(chain: chain, stapledResponse: staple, signedTimestamps: timestamps, tlsVersion: version)
    }
}
