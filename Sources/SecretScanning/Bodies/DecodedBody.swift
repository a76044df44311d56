import HTTPMessage
import HTTPSerialization

/// Decodes the content codings of bodies, so that the bodies can be searched.
package enum DecodedBody {
    /// The maximum decoded length of a body, in bytes. A longer body is not searched.
    package static let lengthLimit = 8 << 20

    /// - Returns: `nil` if a content coding is unknown or malformed, or if the decoded body exceeds the limit.
    package static func decoded(
        _ octets: [UInt8], describedBy fields: Fields, lengthLimit: UInt64 = UInt64(Self.lengthLimit)
    ) -> [UInt8]? {
        let codings = fields.lines.filter { $0.known == .contentEncoding }.map { fields.text(of: $0.value) }
        if codings.isEmpty { return octets }
        let limits = CodingLimits(length: lengthLimit)
        // The reason of the failure is discarded, because callers do not use it.
        return try? ContentDecoder.decoded(octets, contentEncoding: codings, limits: limits)
    }

    /// Whether a JSON text is in UTF-16 or UTF-32. Its first character is ASCII, so one of its first two bytes is NUL, or it begins with a
    /// byte order mark.
    package static func isUTF16OrUTF32(_ text: [UInt8]) -> Bool {
        guard text.count >= 2 else { return false }
        return text[0] == 0 || text[1] == 0 || text.starts(with: [0xFE, 0xFF]) || text.starts(with: [0xFF, 0xFE])
    }
}
