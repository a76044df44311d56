import ProxyServer

/// How the process's descriptors are divided: clients cannot use those reserved for connections to origins.
struct DescriptorRoom: Equatable {
    /// The numbers of descriptors for clients that are served, for clients that are refused with a response, and for connections to
    /// origins.
    let clients: Int
    let refusals: Int
    let origins: Int
    /// How many look-ups each loop may have in progress.
    let lookUps: Int

    /// Descriptors for listeners, loops, log, store and standard streams.
    private static let ownCount = 48

    /// Origins get at most a quarter of the descriptors, refusals at most an eighth, look-up sockets and pipes an eighth, and clients the
    /// rest.
    init(limit: Int, origins wantedOrigins: Int, refusals wantedRefusals: Int, loops: Int) {
        let eighth = max(1, (limit - Self.ownCount) / 8)
        refusals = min(eighth, wantedRefusals)
        origins = min(2 * eighth, wantedOrigins)
        lookUps = max(1, eighth / (Self.socketsOfLookUp * loops))
        clients = max(1, limit - Self.ownCount - eighth - refusals - origins)
    }

    private static let socketsOfLookUp = 3

    /// The maximum number of descriptors that can be open with this limit of client connections, without those of look-ups.
    func total(of connectionLimit: Int) -> Int { Self.ownCount + min(connectionLimit, clients) + refusals + origins }

    /// Lowers each limit in the settings to the number of descriptors reserved for it.
    func bound(_ settings: inout ServerSettings) {
        settings.connectionLimit = min(settings.connectionLimit, clients)
        settings.refusalLimit = min(settings.refusalLimit, refusals)
        settings.transport.lookUps = min(settings.transport.lookUps, lookUps)
    }
}
