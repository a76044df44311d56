import HTTPMessage
import ProxyCore

/// The names by which a client may address one of our listeners.
enum OwnNames {
    static func of(_ address: PeerAddress, _ tls: ListenerTLS? = nil) -> ExchangeContext.OwnAddress {
        var hosts = [Array("\(address.address)".utf8)] + (tls?.names ?? []).map { Array($0.lowercased().utf8) }
        if address.address.isLoopback || address.address.isUnspecified {
            hosts += ["localhost", "localhost.", "127.0.0.1", "::1", "0.0.0.0", "::"].map { Array($0.utf8) }
        }
        return ExchangeContext.OwnAddress(hosts: hosts, port: address.port, isAnyAddress: address.address.isUnspecified)
    }
}
