import HTTPMessage

/// The protocol that a client uses in a tunnel, as far as its first bytes show.
package enum FirstOctets: Equatable, Sendable {
    /// The bytes received so far fit more than one protocol.
    case undecided
    /// A TLS record, well-formed or not.
    case tls
    case http1
    /// The preface of HTTP/2 (RFC 9113 §3.4).
    case http2
    case other

    /// The maximum length of a method in bytes; no registered method is longer.
    static let methodLengthLimit = 24
    /// The result is never `undecided` for more bytes than this.
    package static let undecidedLimit = 32

    package init(_ octets: Span<UInt8>) {
        guard octets.count > 0 else {
            self = .undecided
            return
        }
        // The first byte is the type of a TLS record, or part of the length of an SSL 2 message. No method starts with such a byte.
        if octets[0] >= 0x80 || (octets[0] < 0x20 && octets[0] != ASCII.cr && octets[0] != ASCII.lf) {
            self = (20...23).contains(octets[0]) || octets[0] >= 0x80 ? .tls : .other
            return
        }
        self = Self.ofText(octets)
    }

    private static func ofText(_ octets: Span<UInt8>) -> FirstOctets {
        if HTTP2Preface.begins(octets.bytes) { return octets.count >= HTTP2Preface.bytes.count ? .http2 : .undecided }
        // Empty lines may precede a request (RFC 9112 §2.2).
        var start = 0
        while start < octets.count, octets[start] == ASCII.cr || octets[start] == ASCII.lf { start += 1 }
        var end = start
        while end < octets.count, ASCII.isAlpha(octets[end]) || octets[end] == UInt8(ascii: "-") { end += 1 }
        if end - start > methodLengthLimit || start > 4 { return .other }
        if end == octets.count { return .undecided }
        guard end > start, octets[end] == ASCII.space else { return .other }
        guard end + 1 < octets.count else { return .undecided }
        // A target starts with `/` (origin form), a letter (absolute or authority form) or `*` (asterisk form).
        let first = octets[end + 1]
        return first == ASCII.slash || first == UInt8(ascii: "*") || ASCII.isAlpha(first) ? .http1 : .other
    }
}
