import AdminClient
import HTTPMessage
import LarderSettings
import ProxyAdmin
import ServerTrust

/// `GET /v1/clients`: the data that programs need to use this Larder.
enum ClientSetUpRoute {
    /// - Parameters:
    ///   - addresses: the listeners' addresses; the response lists those with plain HTTP.
    ///   - trust: returns the active settings.
    static func route(_ addresses: [ListenAddress], trust: @escaping @Sendable () -> TrustSettings) -> AdminRoute {
        AdminRoute(.get, AdminClient.setUpPath, .read) { _, exchange in
            let trust = trust()
            exchange.answer(
                json: .object([
                    ("proxies", .array(addresses.filter { $0.tls == nil }.map { .string("\($0)") })),
                    ("root", trust.loaded?.authority.map { .string($0.rootText) } ?? .null),
                    ("anchors", .array(trust.namedAnchors.map { .string($0.pem) })),
                ]))
        }
    }
}
