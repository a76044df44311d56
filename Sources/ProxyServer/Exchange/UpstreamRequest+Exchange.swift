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
                scheme: Origin.Scheme(of: exchange), host: String(decoding: exchange.originHost, as: UTF8.self),
                port: exchange.originPort),
            method: exchange.request.method, head: head, body: body, via: asksForTunnel ? exchange.tunnelVia : "",
            isRetryable: exchange.request.method.isIdempotent, isForSwitch: isForSwitch)
    }
}

extension Origin.Scheme {
    /// Requests to an https origin are only sent inside TLS.
    init(of exchange: borrowing Exchange) {
        switch exchange.request.target.scheme {
        case .http: self = .http
        case .https: self = .https
        }
    }
}

extension UnstoredReason {
    /// The reason for the store's statistics, for a rejection that the store did not count.
    init(_ rejection: StorageRejection) {
        self = rejection.reason == .bodyTooLarge ? .bodyTooLong : .invalidated
    }
}
