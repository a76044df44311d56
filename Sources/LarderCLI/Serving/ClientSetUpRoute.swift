import AdminClient
import HTTPMessage
import LarderSettings
import ProxyAdmin
import ServerTrust

/// `GET /v1/clients`: what programs have to know to go through this Larder.
enum ClientSetUpRoute {
    /// - Parameters:
    ///   - addresses: those that are listened on; programs are told of those where plain HTTP is spoken.
    ///   - trust: as it is active.
    static func route(_ addresses: [ListenAddress], trust: @escaping @Sendable () -> TrustSettings) -> AdminRoute {
        AdminRoute(.get, AdminClient.setUpPath) { _, exchange in
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
