import AccessLog
import CertificateAuthority
import HTTPCaching
import HTTPMessage
import HTTPWire
import LarderSettings
import ProxyCore
import ProxyServer
import ResponseStore
import UpstreamTransport

/// Converts the settings into the form that the lower modules use.
enum ServerAssembly {
    static func serverSettings(_ settings: LarderSettings) -> ServerSettings {
        var result = ServerSettings()
        switch settings.mode {
        case .live: result.mode = .live
        case .offline: result.mode = .offline
        case .auto: result.mode = .auto
        case .replay: result.mode = .replay
        case .record: result.mode = .record
        case .recordMissing: result.mode = .recordMissing
        case .refresh: result.mode = .refresh
        case .diff: result.mode = .diff
        }
        result.replaysStore = settings.recordings.replaysStore
        result.offlineStalenessLimit = settings.cache.maxStaleOffline.map { DeltaSeconds($0.wholeMilliseconds / 1000) }
        result.parseLimits = settings.parseLimits
        result.proxyLimits.requestBodyLength = settings.limits.requestBodyLength
        result.proxyLimits.checkedBytes = Int(clamping: settings.limits.checkedBytes)
        result.offersHTTP2 = settings.tls.connect.http2 == .auto
        result.removesAltSvc = settings.tls.connect.altSvc == .remove
        result.http2Limits.headerListBytes = Int(clamping: settings.limits.headLength)
        result.http2Limits.fieldCount = settings.limits.fieldCount
        result.http2Limits.concurrentStreams = settings.limits.http2.streams
        result.http2Limits.resetStreams = settings.limits.http2.resets
        result.resetsPerClient = settings.limits.http2.resetsPerClient
        result.http2Limits.streamWindow = Int(clamping: settings.limits.http2.streamWindow)
        result.http2Limits.connectionWindow = Int(clamping: settings.limits.http2.connectionWindow)
        result.timeouts.clientHandshake = milliseconds(settings.timeouts.clientHandshake)
        result.timeouts.clientHead = milliseconds(settings.timeouts.clientHead)
        result.timeouts.clientBody = milliseconds(settings.timeouts.clientBody)
        result.timeouts.clientIdle = milliseconds(settings.timeouts.clientIdle)
        result.transport = settings.transport
        result.transport.offersHTTP2 = settings.upstream.http2 == .auto
        result.transport.http2Limits = result.http2Limits
        // The window for an origin's response is larger: Larder reads responses at once, unless their client is slow, and the origin may be
        // far away.
        result.transport.http2Limits.streamWindow = max(256 << 10, result.http2Limits.streamWindow)
        // Connections through a group of parents share its state, whichever of the transports makes them.
        result.ways = settings.upstream.allWays
        result.transport = result.transport.through(settings.upstream.usual(among: result.ways))
        result.authority = settings.tls.loaded?.authority
        result.traceLimits.count = settings.traces.count
        result.admission = admission(settings.clients)
        result.purgeClients = settings.clients.purge
        result.runName = settings.clients.run ?? ""
        switch settings.tunnel.ports {
        case .any: result.tunnelPorts = .any
        case .only(let ports): result.tunnelPorts = .listed(ports)
        }
        result.tracing = settings.otlp.endpoint.map { _ in TraceContext.Sampling(share: settings.otlp.sample) }
        result.hostMismatch = settings.hostMismatch == .deny ? .deny : .ignore
        result.targets = TargetedCacheControl(settings.cache.targetedCacheControl)
        result.tellsKey = settings.cache.statusKey
        result.setCookie = settings.cache.setCookie == .never ? .never : .explicit
        return result
    }

    /// - Parameters:
    ///   - listeners: the settings at the start, with the open listeners. Whether a listener uses TLS does not change with new settings;
    ///     its certificates may.
    ///   - active: the active TLS of the listeners, which stays if the new settings have no matching entry.
    static func listenerTLS(
        _ settings: LarderSettings, of listeners: LarderSettings, active: [ListenerTLS?] = []
    ) throws(CertificateAuthority.AuthorityFault) -> [ListenerTLS?] {
        var result: [ListenerTLS?] = []
        for (index, address) in listeners.listen.enumerated() {
            if let number = settings.listen.firstIndex(where: { $0.isSame(as: address) && $0.tls == address.tls }) {
                guard let loaded = settings.loadedListeners.all[number] else {
                    result.append(nil)
                    continue
                }
                result.append(try listenerTLS(loaded, offersHTTP2: settings.tls.connect.http2 == .auto))
            } else {
                result.append(active[index])
            }
        }
        return result
    }

    private static func listenerTLS(
        _ loaded: LoadedListener, offersHTTP2: Bool
    ) throws(CertificateAuthority.AuthorityFault) -> ListenerTLS {
        let shown = loaded.identity.map { ListenerTLS.Shown.identity($0) } ?? .authority(names: loaded.names)
        return try ListenerTLS(showing: shown, clientRoots: loaded.clientRoots, offersHTTP2: offersHTTP2)
    }

    private static func admission(_ clients: LarderSettings.Clients) -> ClientAdmission {
        var result = ClientAdmission()
        result.allowedClients = clients.allow
        result.passwords = clients.loadedPasswords
        switch clients.authenticate {
        case .unlisted: result.asked = .unlisted
        case .remote: result.asked = .remote
        case .all: result.asked = .all
        }
        return result
    }

    /// - Parameter limit: the most connections to origins that the process can open.
    static func budgets(
        _ settings: LarderSettings, atMost limit: Int = .max, queueLength: Int = UpstreamBudgets.usualQueueLength
    ) -> UpstreamBudgets {
        UpstreamBudgets(
            connections: min(settings.upstream.connections, limit), connectionsPerOrigin: settings.upstream.connectionsPerOrigin,
            queueLength: queueLength)
    }

    static func store(
        _ settings: LarderSettings, path: String, report: @escaping @Sendable (StoreNotice) -> Void
    ) -> StoreConfiguration {
        var result = StoreConfiguration(path: path)
        result.memory = marks(settings.store.memory.marks)
        result.disk = marks(settings.store.disk)
        result.memoryBodyLimit = Int(clamping: settings.store.memory.bodyLengthLimit)
        result.report = report
        return result
    }

    static func accessLog(
        _ settings: LarderSettings, warn: @escaping @Sendable (String) -> Void
    ) throws -> AccessLog {
        let log = settings.log.access
        let format: AccessLog.Format
        switch log.format {
        case .off: return try .off()
        case .ndjson: format = .ndjson
        case .squid: format = .squid
        case .combined: format = .combined
        }
        return try AccessLog(.init(path: log.path, format: format, includesQuery: log.includesQuery), warn: warn)
    }

    private static func marks(_ marks: LarderSettings.Marks) -> StoreConfiguration.Marks {
        StoreConfiguration.Marks(high: Int(clamping: marks.high), low: Int(clamping: marks.low))
    }

    private static func milliseconds(_ duration: Duration) -> Int { Int(clamping: duration.wholeMilliseconds) }
}
