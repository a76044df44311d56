import AdminClient
import ArgumentParser
import CommandSupport
import Foundation
import LarderHTTP
import LarderSettings
import ProxyPolicy

/// The Larder that `fetch` uses: the running one, with its store, or one in this process with the user's settings and store. As for any
/// other client, that Larder applies rules, pins and the store (decision 0029).
struct FetchRoute {
    /// The options in addition to the settings.
    struct Terms {
        var policy: String?
        var store: String?
        var isOffline = false
    }

    let address: ListenAddress
    /// A message if the store is not fully available.
    let remark: String?
    /// Whether requests may go through an upstream proxy: the settings name one, or a running Larder decides.
    let hasProxy: Bool
    private let server: RunningServer?

    /// How long to wait, after the last file, for responses that are still being stored.
    private static let settlingLimit: Duration = .seconds(10)

    /// - Throws: exit code 1 or 2, after reporting the problem.
    init(_ options: SettingsOptions, _ terms: Terms) throws(ExitCode) {
        let isAsSet = terms.policy == nil && terms.store == nil && !terms.isOffline && options.set.isEmpty
        if isAsSet, let running = Self.running(options) {
            address = running
            remark = nil
            hasProxy = true
            server = nil
            return
        }
        let loaded = try options.load(
            flags: Self.flags(terms), defaults: ["log.level=error"], policy: terms.policy,
            trustFiles: TrustFiles(opensKeyLog: true, interceptsNobody: true))
        if loaded.settings.clients.asksEverybody {
            Terminal.talk("larder: \(EphemeralProxy.asking)\n")
            throw ExitCode(2)
        }
        let server = try RunningServer(ServingPlan(loaded, mayForgetWhatIsNew: terms.store == nil), loaded)
        address = server.addresses[0]
        remark = server.storeRemark
        hasProxy = loaded.settings.upstream.leadsThroughProxy
        self.server = server
    }

    var proxy: SessionProxy { SessionProxy(larderAt: "\(address.address)", port: address.port) }

    /// Stops the Larder in this process, if there is one, after pending responses are stored.
    /// - Parameter waits: if false, pending responses are cut off, and stored as far as they were received.
    func close(waits: Bool) {
        guard let server else { return }
        guard waits else { return server.close() }
        let drained = DispatchSemaphore(value: 0)
        server.server.drain { drained.signal() }
        _ = drained.wait(timeout: .now() + .milliseconds(Int(clamping: Self.settlingLimit.wholeMilliseconds)))
        server.close()
    }

    /// Settings that the settings file cannot change.
    private static func flags(_ terms: Terms) -> [(flag: String, name: String, value: SettingsNode)] {
        var flags: [(flag: String, name: String, value: SettingsNode)] = [
            ("fetch", "listen", SettingsNode(.sequence([.plain("127.0.0.1:0")]), at: .none)),
            ("fetch", "admin.socket", .plain("off")),
            // These addresses belong to the Larder of `larder serve`.
            ("fetch", "admin.listen", .plain("off")), ("fetch", "metrics.listen", .plain("off")),
            ("fetch", "log.access.format", .plain("off")),
        ]
        if terms.isOffline { flags.append(("--offline", "mode", .plain(LarderSettings.Mode.offline.rawValue))) }
        if let store = terms.store { flags.append(("--store", "store.path", .plain(store))) }
        return flags
    }

    /// The address at which the running Larder serves programs of this machine; `nil` if no Larder is running, or if it requires a
    /// password. Problems in the settings are not reported here, but when the settings are loaded.
    private static func running(_ options: SettingsOptions) -> ListenAddress? {
        let sources = SettingsSources(file: options.config, policy: nil, assignments: [], flags: [], trustFiles: nil)
        guard case .settings(let settings) = sources.load().outcome, !settings.clients.asksEverybody,
            case .path(let path) = AdminSocketPath.find(settings, sources.environment), let client = try? AdminClient(path: path),
            let (status, text) = try? client.send("GET", AdminClient.setUpPath, accept: "application/json"), status.isSuccessful
        else { return nil }
        let proxies = JSONAnswer(text)["proxies"] as? [String] ?? []
        return proxies.lazy.compactMap { ListenAddress($0) }.first?.reachedLocally
    }
}
