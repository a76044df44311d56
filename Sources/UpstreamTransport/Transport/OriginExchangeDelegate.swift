import HTTPMessage
import HTTPWire

/// Hears what an exchange with an origin brings. Called on the transport's loop, and but for `exchangeHasConnection` never from within
/// `Transport.open`.
///
/// Heads in order: any number of informational ones within the limit, one final; then body pieces; then either the end, a
/// switch of protocols or a failure, after which nothing more comes. Nothing comes after `cancel`.
package protocol OriginExchangeDelegate: AnyObject {
    /// The request is about to be sent on a connection; again where a retry takes another one. `OriginExchange.verdict` is on its server.
    func exchangeHasConnection(_ exchange: OriginExchange)
    func exchange(_ exchange: OriginExchange, didReceiveInformational head: borrowing ResponseHead)
    /// The head may be taken (by swapping in an empty one); what is left in its place is used again.
    func exchange(_ exchange: OriginExchange, didReceiveHead head: inout ResponseHead, framing: BodyFraming)
    /// The bytes stand in a buffer that the next read overwrites.
    func exchange(_ exchange: OriginExchange, didReceiveBody bytes: Span<UInt8>)
    /// So many bytes of the body went into the pipe given to `divertBody`.
    func exchange(_ exchange: OriginExchange, didDivertBody count: Int)
    /// The response is complete. The trailer fields are empty unless the body was chunked.
    func exchange(_ exchange: OriginExchange, didEndWithTrailers trailers: borrowing Fields)
    /// The server has answered 101 to a request that `isForSwitch`. The exchange is over, and the connection whoever's is told of it.
    func exchange(
        _ exchange: OriginExchange, didSwitchProtocols head: inout ResponseHead, on connection: SwitchedConnection)
    /// The response is not complete, or there is none.
    func exchange(_ exchange: OriginExchange, didFailWith error: TransportError)
    /// More of the request's body is welcome, after `sendBody` had answered `false`.
    func exchangeIsReadyForBody(_ exchange: OriginExchange)
}

extension OriginExchangeDelegate {
    package func exchangeHasConnection(_ exchange: OriginExchange) {}
}
