/// The parts of a request target, as positions in the head's bytes (RFC 9112 §3.2, RFC 9110 §7.1).
package struct RequestTarget: Equatable, Sendable {
    package enum Form: UInt8, Sendable { case origin, absolute, authority, asterisk }
    package enum Scheme: UInt8, Sendable { case http, https }
    package enum HostKind: UInt8, Sendable { case name, ipv4, ipv6 }

    package var form: Form = .origin
    package var scheme: Scheme = .http
    package var hostKind: HostKind = .name
    /// The host as written, not yet in lower case; an IPv6 address has no brackets. Empty in origin form and asterisk form.
    package var host: Extent = .empty
    /// The port as written, or else the scheme's default port.
    package var port: UInt16 = 80
    /// The path as written. In absolute form it may be empty, which means `/`.
    package var path: Extent = .empty
    /// The query with its leading `?`; empty if there is none. In the bytes, it directly follows the path.
    package var query: Extent = .empty

    package init() {}
}
