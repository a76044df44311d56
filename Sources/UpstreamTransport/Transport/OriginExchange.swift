package import HTTPCaching
import HTTPMessage
import ServerTrust

/// A handle on one exchange with an origin: what the caller may do with it. Confined to the transport's loop.
///
/// A value: the object behind it serves one exchange after the other, and a handle whose exchange has ended does nothing.
package struct OriginExchange: Equatable {
    let exchange: UpstreamExchange
    let number: UInt64

    package static func == (left: OriginExchange, right: OriginExchange) -> Bool {
        // Transports count each for themselves.
        left.number == right.number && left.exchange === right.exchange
    }

    /// Whether its end, failure or cancellation has not come yet.
    package var isActive: Bool { exchange.number == number && exchange.isActive }

    /// Sends a piece of the request's body, at once or when the connection is ready for it; the bytes are taken in any case.
    /// May be called right after `open`.
    /// - Returns: `false` when enough waits in memory: go on after `exchangeIsReadyForBody`.
    package func sendBody(_ bytes: Span<UInt8>) -> Bool {
        guard isActive else { return true }
        return exchange.sendBody(bytes)
    }

    /// Ends the request's body. A body of known length must be whole by then.
    package func endBody(trailers: Fields = Fields()) {
        if isActive { exchange.endBody(trailers: trailers) }
    }

    /// Moves what is still to be read of the body into a pipe, as far as nobody has to look at it: each time at most `limit`
    /// bytes, told to the delegate, who pauses reading while the pipe is not empty. To be called with the head.
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

    /// Ends the exchange at once and closes its connection. The delegate hears nothing any more.
    package func cancel() {
        if isActive { exchange.cancel() }
    }

    /// What the server showed of itself, once its head has come; `nil` without TLS. Good until the callback that reports the end returns.
    package var recordedChain: RecordedChain? { isActive ? exchange.recordedChain : nil }

    /// The verified chain of the server, where its connection was made for this exchange; empty on one that was used before, without
    /// TLS, and where the chain ends at no anchor or may be another host's. As good as `metrics`.
    package var judgedChain: [Certificate] { exchange.number == number ? exchange.judgedChain : [] }

    /// On the server that it is with; `nil` without TLS and without a connection.
    package var verdict: TrustVerdict? { isActive ? exchange.verdict : nil }

    /// What the exchange has met so far. Good until the callback that reports its end returns.
    package var metrics: ExchangeMetrics { exchange.number == number ? exchange.metrics : ExchangeMetrics() }
}
