/// The length of a message's body, independent of its framing (RFC 9112 §6.3).
package enum BodyLength: Equatable, Sendable {
    /// The message has no body: HEAD, 204, 304, or a request without one.
    case none
    case known(UInt64)
    /// The end is only known when it is reached: chunked, or ended by closing the connection.
    case unknown
}
