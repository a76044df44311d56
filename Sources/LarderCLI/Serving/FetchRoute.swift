import AdminClient
import ArgumentParser
import CommandSupport
import Foundation
import HTTPSession
import LarderSettings
import ProxyPolicy

/// The Larder through which everything is fetched: the one that runs, whose store it is then, or one of this process's own, with the
/// user's settings and store. Rules, pins, the store and all else are its affair, as for any program behind it (decision 0029).
struct FetchRoute {
    /// What is asked of it, beyond the settings.
    struct Terms {
        var policy: String?
        var store: String?
        var isOffline = false
    }

    let address: ListenAddress
    /// What a person should know, where it is less than it could be.
    let remark: String?
    /// Whether it goes through another proxy, or has been told by others whether to.
    let hasProxy: Bool
    private let server: RunningServer?

    /// How long what is under way for the store may take behind the last file.
    private static let settlingLimit: Duration = .seconds(10)

    /// - Throws: exit code 1 or 2, after saying what is wrong.
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
        hasProxy = loaded.settings.upstream.proxy != nil
        self.server = server
    }

    var proxy: SessionProxy { SessionProxy(larderAt: "\(address.address)", port: address.port) }

    /// Ends it, once what is on its way into the store is there.
    /// - Parameter waits: else that is cut off, and kept as far as it came.
    func close(waits: Bool) {
        guard let server else { return }
        guard waits else { return server.close() }
        let drained = DispatchSemaphore(value: 0)
        server.server.drain { drained.signal() }
        _ = drained.wait(timeout: .now() + .milliseconds(Int(clamping: Self.settlingLimit.wholeMilliseconds)))
        server.close()
    }

    /// What is not the settings' to say.
    private static func flags(_ terms: Terms) -> [(flag: String, name: String, value: SettingsNode)] {
        var flags: [(flag: String, name: String, value: SettingsNode)] = [
            ("fetch", "listen", SettingsNode(.sequence([.plain("127.0.0.1:0")]), at: .none)),
            ("fetch", "admin.socket", .plain("off")),
            ("fetch", "log.access.format", .plain("off")),
        ]
        if terms.isOffline { flags.append(("--offline", "mode", .plain(LarderSettings.Mode.offline.rawValue))) }
        if let store = terms.store { flags.append(("--store", "store.path", .plain(store))) }
        return flags
    }

    /// Where the Larder that runs listens for programs of this machine; `nil` where there is none that serves them without a password.
    /// What is wrong with the settings is told where they are loaded for good.
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
