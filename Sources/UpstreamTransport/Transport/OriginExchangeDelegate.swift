import HTTPMessage
import HTTPWire

/// Receives the events of an exchange with an origin. Called on the transport's loop, and, except for `exchangeHasConnection`,
/// never from within `Transport.open`.
///
/// In order: informational heads, up to the limit; one final head; body pieces; then the end, a switch of protocols or a
/// failure, which is the last event. No events follow `cancel`.
package protocol OriginExchangeDelegate: AnyObject {
    /// The request is about to be sent on a connection. Called again if a retry uses a different connection. `OriginExchange.verdict` is
    /// the verdict on its server.
    func exchangeHasConnection(_ exchange: OriginExchange)
    func exchange(_ exchange: OriginExchange, didReceiveInformational head: borrowing ResponseHead)
    /// The delegate may take the head by swapping in an empty one; the storage that remains is reused.
    func exchange(_ exchange: OriginExchange, didReceiveHead head: inout ResponseHead, framing: BodyFraming)
    /// The bytes are in a buffer that the next read overwrites.
    func exchange(_ exchange: OriginExchange, didReceiveBody bytes: Span<UInt8>)
    /// `count` bytes of the body were moved into the pipe passed to `divertBody`.
    func exchange(_ exchange: OriginExchange, didDivertBody count: Int)
    /// Called when the response is complete. The trailer fields are empty unless the body was chunked.
    func exchange(_ exchange: OriginExchange, didEndWithTrailers trailers: borrowing Fields)
    /// The server answered 101 to a request with `isForSwitch`, or accepted its extended CONNECT. The exchange has ended, and the delegate owns the connection.
    func exchange(
        _ exchange: OriginExchange, didSwitchProtocols head: inout ResponseHead, on connection: SwitchedConnection)
    /// Called when the exchange has failed: the response is incomplete, or there is no response.
    func exchange(_ exchange: OriginExchange, didFailWith error: TransportError)
    /// More of the request's body can be sent, after `sendBody` returned `false`.
    func exchangeIsReadyForBody(_ exchange: OriginExchange)
}

extension OriginExchangeDelegate {
    package func exchangeHasConnection(_ exchange: OriginExchange) {}
}
