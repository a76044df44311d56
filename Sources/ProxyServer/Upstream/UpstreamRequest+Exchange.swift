import HTTPCaching
import HTTPMessage
import HTTPWire
import ProxyCore
import ResponseStore
import UpstreamTransport

/// What the other modules have to know of an exchange, in their own words.
extension UpstreamRequest {
    init(of exchange: borrowing Exchange, head: [UInt8], body: BodyFraming, asksForTunnel: Bool, isForSwitch: Bool) {
        self.init(
            origin: Origin(
                scheme: exchange.originScheme, host: String(decoding: exchange.originHost, as: UTF8.self),
                port: exchange.originPort),
            method: exchange.request.method, head: head, body: body, via: asksForTunnel ? exchange.tunnelVia : "",
            isRetryable: exchange.request.method.isIdempotent, isForSwitch: isForSwitch)
    }
}

extension Exchange {
    /// An https origin is asked inside TLS or not at all.
    var originScheme: Origin.Scheme {
        switch request.target.scheme {
        case .http: .http
        case .https: .https
        }
    }
}

extension UnstoredReason {
    /// A rejection that the store does not know of.
    init(_ rejection: StorageRejection) {
        self = rejection.reason == .bodyTooLarge ? .bodyTooLong : .invalidated
    }
}
