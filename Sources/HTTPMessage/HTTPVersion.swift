/// The version of a message (RFC 9110 §2.5). The parsers of HTTP/1 accept only HTTP/1.x.
package struct HTTPVersion: Equatable, Sendable {
    package let major: UInt8
    package let minor: UInt8

    package init(major: UInt8, minor: UInt8) {
        self.major = major
        self.minor = minor
    }

    package static let http10 = HTTPVersion(major: 1, minor: 0)
    package static let http11 = HTTPVersion(major: 1, minor: 1)
    package static let http2 = HTTPVersion(major: 2, minor: 0)

    /// Whether the version is HTTP/1.1 or a later minor version, which is treated as HTTP/1.1 (RFC 9110 §6.2).
    package var isAtLeast11: Bool { major > 1 || (major == 1 && minor >= 1) }
}
