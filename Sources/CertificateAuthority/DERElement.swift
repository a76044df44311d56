/// The few elements of DER (X.690 §8.1) that Larder encodes itself, because OpenSSL's configuration syntax would need quoting.
enum DERElement {
    static let sequence: UInt8 = 0x30

    static func encoded(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag] + length(content.count) + content
    }

    private static func length(_ count: Int) -> [UInt8] {
        if count < 0x80 { return [UInt8(count)] }
        var octets: [UInt8] = []
        var rest = count
        while rest > 0 {
            octets.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(octets.count)] + octets
    }
}

/// The tags of GeneralName (RFC 5280 §4.2.1.6), and of name constraints (§4.2.1.10).
enum GeneralNameTag {
    static let name: UInt8 = 0x82
    static let address: UInt8 = 0x87
    static let permitted: UInt8 = 0xA0
    static let excluded: UInt8 = 0xA1
}
