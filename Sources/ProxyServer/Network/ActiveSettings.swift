import EventLoop
import ProxyPolicy
import Reachability

/// From what the active settings are made: what was read last, and what the network is. Either may change at any time, on threads of their own.
struct SettingsSource: Sendable {
    var settings: ServerSettings
    var rules: PolicyRuleSet
    var network = ReachabilityStatus.unknown
    /// Counts the changes: what was made from an older one is not activated.
    fileprivate(set) var version = 0

    init(settings: ServerSettings, rules: PolicyRuleSet) {
        self.settings = settings
        self.rules = rules
    }
}

extension ProxyServer {
    /// Puts active settings for every request that arrives from now on.
    func activate(_ change: (inout SettingsSource) -> Void) {
        let source = self.source.withLock { source in
            change(&source)
            source.version += 1
            return source
        }
        let current = Self.current(source, addresses: addresses, after: shared.current, shared.warn)
        self.source.withLock { newest in
            guard newest.version == source.version else { return }
            // What has begun under the settings before goes on; it connects nowhere any more.
            current.settings.transport.gate.set(source.settings.gatePosition(in: current.context.mode))
            shared.replace(current)
            // Under the lock, so that each loop has the newest last.
            for thread in threads {
                thread.handle.post { loop in (loop.owner as? LoopWorker)?.adopt(current) }
            }
        }
    }

    /// Listens to the network where the mode wants it.
    func followNetwork(_ mode: ServerSettings.Mode) {
        guard mode == .auto else { return network.end() }
        do throws(ReachabilityError) {
            try network.begin { [weak self] status in self?.networkChanged(to: status) }
        } catch {
            shared.warn("mode auto stays live, because Larder cannot watch the network: \(error.description)")
        }
    }

    private func networkChanged(to status: ReachabilityStatus) {
        let isOtherMode = source.withLock { source in
            let isOther = source.settings.mode(on: source.network) != source.settings.mode(on: status)
            if !isOther { source.network = status }
            return isOther
        }
        if isOtherMode { activate { $0.network = status } }
    }
}
