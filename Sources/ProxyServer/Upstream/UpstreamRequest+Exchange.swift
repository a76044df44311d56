import HTTPCaching
import HTTPMessage
import HTTPWire
import ProxyCore
import ResponseStore
import UpstreamTransport

/// Properties of an exchange in the terms of other modules.
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
    /// Requests to an https origin are only sent inside TLS.
    var originScheme: Origin.Scheme {
        switch request.target.scheme {
        case .http: .http
        case .https: .https
        }
    }
}

extension UnstoredReason {
    /// The reason for the store's statistics, for a rejection that the store did not count.
    init(_ rejection: StorageRejection) {
        self = rejection.reason == .bodyTooLarge ? .bodyTooLong : .invalidated
    }
}
