/// How much of a message's body is to come, without saying how it is framed (RFC 9112 §6.3).
package enum BodyLength: Equatable, Sendable {
    /// There is no body: HEAD, 204, 304, or a request without one.
    case none
    case known(UInt64)
    /// It ends when it ends: chunked, or with the connection.
    case unknown
}
