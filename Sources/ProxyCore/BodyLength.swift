/// The length of a message's body, independent of its framing (RFC 9112 §6.3).
package enum BodyLength: Equatable, Sendable {
    /// The message has no body: HEAD, 204, 304, or a request without one.
    case none
    case known(UInt64)
    /// The length is unknown until the body ends: the body is chunked, or the end of the connection ends it.
    case unknown
}
