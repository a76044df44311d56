/// Why parsing a header stops.
enum ImageStop: Error {
    /// The required bytes have not arrived.
    case needsMore
    case malformed(String)
}

/// The bytes of a header, read by position; reading a byte that has not arrived throws `needsMore`.
struct HeaderOctets {
    let octets: [UInt8]

    init(_ octets: [UInt8]) { self.octets = octets }

    func octet(_ place: Int) throws(ImageStop) -> Int {
        guard place >= 0, place < octets.count else { throw .needsMore }
        return Int(octets[place])
    }

    func big(_ place: Int, _ length: Int) throws(ImageStop) -> Int {
        var number = 0
        for step in 0..<length { number = number << 8 | (try octet(place + step)) }
        return number
    }

    func little(_ place: Int, _ length: Int) throws(ImageStop) -> Int {
        var number = 0
        for step in 0..<length { number |= (try octet(place + step)) << (8 * step) }
        return number
    }

    func text(_ place: Int, _ length: Int) throws(ImageStop) -> String {
        if length > 0 { _ = try octet(place + length - 1) }
        return String(decoding: octets[place..<place + length], as: UTF8.self)
    }

    /// Whether these bytes are at this position. A difference is reported even if later bytes have not arrived.
    func has(_ expected: [UInt8], at place: Int = 0) throws(ImageStop) -> Bool {
        for (step, octet) in expected.enumerated() where try self.octet(place + step) != Int(octet) { return false }
        return true
    }
}
