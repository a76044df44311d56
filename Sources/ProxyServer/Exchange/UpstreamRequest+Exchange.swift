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
        acceptsTrailers = exchange.request.fields.contains(.te) && Self.acceptsTrailers(exchange.request.fields)
    }

    /// Whether TE has the member `trailers` (RFC 9110 §10.1.4).
    private static func acceptsTrailers(_ fields: borrowing Fields) -> Bool {
        for line in fields.lines where line.known == .te {
            let value = fields.value(of: line)
            var members = ListElements()
            while let member = members.next(in: value) {
                if value.extracting(member).equalsIgnoringCase("trailers") { return true }
            }
        }
        return false
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
    /// The reason under which a rejected response is counted, if the store has not counted the rejection itself.
    init(_ rejection: StorageRejection) {
        self = rejection.reason == .bodyTooLarge ? .bodyTooLong : .invalidated
    }
}
