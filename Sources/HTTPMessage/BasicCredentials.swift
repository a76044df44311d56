/// A name and a password as the Basic scheme carries them (RFC 7617 §2): `Basic` and base64 of `name:password`.
package struct BasicCredentials: Equatable, Sendable {
    /// The name, a colon, the password, as they came: in what encoding, the sender alone knows.
    package let octets: [UInt8]
    private let colon: Int

    /// The longest of both together, in bytes.
    package static let limit = 512
    private static let encodedLimit = (limit + 2) / 3 * 4

    /// - Parameter value: a field's, without blanks at its ends.
    /// - Returns: `nil` for another scheme, for what is not base64 to the letter, longer than `limit`, without a colon, or holds a
    ///   control character.
    package init?(_ value: Span<UInt8>) {
        var blank = 0
        while blank < value.count, value[blank] != ASCII.space { blank += 1 }
        guard value.extracting(0..<blank).equalsIgnoringCase("basic") else { return nil }
        var start = blank
        while start < value.count, value[start] == ASCII.space { start += 1 }
        guard value.count - start <= Self.encodedLimit else { return nil }
        let encoded = (start..<value.count).map { value[$0] }
        guard let octets = Base64.decode(encoded), octets.count <= Self.limit, let colon = octets.firstIndex(of: ASCII.colon),
            octets.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        self.octets = octets
        self.colon = colon
    }

    package var name: ArraySlice<UInt8> { octets[..<colon] }
    /// It may hold colons, which a name may not.
    package var password: ArraySlice<UInt8> { octets[(colon + 1)...] }
}
