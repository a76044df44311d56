/// A name and a password of the Basic scheme (RFC 7617 §2): `Basic` and the base64 of `name:password`.
package struct BasicCredentials: Equatable, Sendable {
    /// The name, a colon and the password as received. Their character encoding is unknown.
    package let octets: [UInt8]
    private let colon: Int

    /// The maximum length of `octets`, in bytes.
    package static let limit = 512
    private static let encodedLimit = (limit + 2) / 3 * 4

    /// - Parameter value: a field value without blanks at its ends.
    /// - Returns: `nil` if the scheme is not Basic or the base64 is invalid. Also `nil` if the decoded text is longer than
    ///   `limit`, has no colon or has a control character.
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
    /// The password, which may contain colons; the name cannot.
    package var password: ArraySlice<UInt8> { octets[(colon + 1)...] }
}
