internal import CLarderOpenSSL
internal import HTTPMessage
internal import ServerTrust

/// A certificate's serial number: a positive number of 16 bytes with 126 random bits (RFC 5280 §4.1.2.2 permits 20 bytes; the CA/Browser
/// Forum requires 64 bits).
struct SerialNumber {
    static let octetCount = 16

    let octets: [UInt8]

    /// - Returns: `nil` if OpenSSL has no randomness.
    static func drawn() -> SerialNumber? {
        var octets = [UInt8](repeating: 0, count: octetCount)
        guard ErrorQueue.unchanged(by: { RAND_bytes(&octets, Int32(octetCount)) }) == 1 else { return nil }
        // With these two bits the number is positive and always has the same length.
        octets[0] = octets[0] & 0x3F | 0x40
        return SerialNumber(octets: octets)
    }

    /// The last digits of the number, which are enough to distinguish two roots at a glance.
    var tag: String {
        Hexadecimal.encode(octets.suffix(4))
    }
}
