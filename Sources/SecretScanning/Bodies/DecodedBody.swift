import HTTPMessage
import HTTPSerialization

/// Bodies out of their content codings.
package enum DecodedBody {
    /// Bytes of a body out of its codings. A longer one is not searched.
    package static let lengthLimit = 8 << 20

    /// - Returns: `nil` where there is a coding that is not known, that is malformed, or that more comes out of than the limit.
    package static func decoded(
        _ octets: [UInt8], describedBy fields: Fields, lengthLimit: UInt64 = UInt64(Self.lengthLimit)
    ) -> [UInt8]? {
        let codings = fields.lines.filter { $0.known == .contentEncoding }.map { fields.text(of: $0.value) }
        if codings.isEmpty { return octets }
        let limits = CodingLimits(length: lengthLimit)
        // Why it does not come out makes no difference to who asks.
        return try? ContentDecoder.decoded(octets, contentEncoding: codings, limits: limits)
    }

    /// Whether a JSON text is in UTF-16 or UTF-32: its first character is ASCII, so that one of its first two bytes is NUL, or it has a mark.
    package static func isUTF16OrUTF32(_ text: [UInt8]) -> Bool {
        guard text.count >= 2 else { return false }
        return text[0] == 0 || text[1] == 0 || text.starts(with: [0xFE, 0xFF]) || text.starts(with: [0xFF, 0xFE])
    }
}
