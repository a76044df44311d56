import ProxyServer

/// How the descriptors that this process may have open are shared out: clients cannot take those by which origins are reached.
struct DescriptorRoom: Equatable {
    /// Client connections, among them those that are told that they are refused, and connections to origins.
    let clients: Int
    let refusals: Int
    let origins: Int
    /// At once by each loop.
    let lookUps: Int

    /// For listeners, loops, log, store and standard streams.
    private static let ownCount = 48

    /// At most a quarter for origins and an eighth for refusals, an eighth for the sockets of look-ups and for pipes; clients have the rest.
    init(limit: Int, origins wantedOrigins: Int, refusals wantedRefusals: Int, loops: Int) {
        let eighth = max(1, (limit - Self.ownCount) / 8)
        refusals = min(eighth, wantedRefusals)
        origins = min(2 * eighth, wantedOrigins)
        lookUps = max(1, eighth / (Self.socketsOfLookUp * loops))
        clients = max(1, limit - Self.ownCount - eighth - refusals - origins)
    }

    private static let socketsOfLookUp = 3

    /// How many there may be at most, where so many clients may be connected.
    func total(of connectionLimit: Int) -> Int { Self.ownCount + min(connectionLimit, clients) + refusals + origins }

    /// Lowers the limits that reach beyond it.
    func bound(_ settings: inout ServerSettings) {
        settings.connectionLimit = min(settings.connectionLimit, clients)
        settings.refusalLimit = min(settings.refusalLimit, refusals)
        settings.transport.lookUps = min(settings.transport.lookUps, lookUps)
    }
}
