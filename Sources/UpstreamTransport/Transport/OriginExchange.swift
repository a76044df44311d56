package import HTTPCaching
import HTTPMessage
import ServerTrust

/// A handle for one exchange with an origin. Confined to the transport's loop.
///
/// It is a value: the object behind it is reused for later exchanges, and a handle whose exchange has ended does nothing.
package struct OriginExchange: Equatable {
    let exchange: UpstreamExchange
    let number: UInt64

    package static func == (left: OriginExchange, right: OriginExchange) -> Bool {
        // Numbers are unique only within a transport, so the exchanges are compared too.
        left.number == right.number && left.exchange === right.exchange
    }

    /// Whether the exchange has not ended, failed or been cancelled.
    package var isActive: Bool { exchange.number == number && exchange.isActive }

    /// Sends a piece of the request's body, at once or when the connection is ready; all bytes are accepted in any case. May be
    /// called right after `open`.
    /// - Returns: `false` if enough bytes are buffered: continue after `exchangeIsReadyForBody`.
    package func sendBody(_ bytes: Span<UInt8>) -> Bool {
        guard isActive else { return true }
        return exchange.sendBody(bytes)
    }

    /// Ends the request's body. A body of known length must be complete by then.
    package func endBody(trailers: Fields = Fields()) {
        if isActive { exchange.endBody(trailers: trailers) }
    }

    /// Moves the rest of the body into a pipe, if no code has to see the bytes. It moves at most `limit` bytes each time and
    /// reports them to the delegate, which pauses reading while the pipe is not empty. Call it when the head arrives.
    package func divertBody(into pipe: Int32, atMost limit: Int) {
        if isActive { exchange.diversion = BodyDiversion(pipe: pipe, limit: limit) }
    }

    /// Stops reading from the origin, after the piece that is being delivered (at most 64 KiB).
    package func pauseReading() {
        if isActive { exchange.setPaused(true) }
    }

    package func resumeReading() {
        if isActive { exchange.setPaused(false) }
    }

    /// Ends the exchange at once and closes its connection. The delegate is not called after that.
    package func cancel() {
        if isActive { exchange.cancel() }
    }

    /// The server's certificate chain with its other evidence, as it is recorded, once the response's head has arrived; `nil` without TLS.
    /// Valid until the callback that reports the end returns.
    package var recordedChain: RecordedChain? { isActive ? exchange.recordedChain : nil }

    /// The verified chain of the server, if the connection was opened for this exchange. It is empty on a reused connection and without
    /// TLS. It is also empty if the chain does not end at an anchor, or the policy does not validate the host. Valid until the callback
    /// that reports the end returns.
    package var judgedChain: [Certificate] { exchange.number == number ? exchange.judgedChain : [] }

    /// The verdict on the exchange's server; `nil` without TLS and without a connection.
    package var verdict: TrustVerdict? { isActive ? exchange.verdict : nil }

    /// Metrics so far. Valid until the callback that reports the end returns.
    package var metrics: ExchangeMetrics { exchange.number == number ? exchange.metrics : ExchangeMetrics() }
}
