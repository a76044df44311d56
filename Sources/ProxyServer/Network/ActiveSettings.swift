import EventLoop
import ProxyPolicy
import Reachability

/// The sources of the active settings: the settings read last, and the state of the network. Either may change at any time, on its own
/// thread.
struct SettingsSource: Sendable {
    var settings: ServerSettings
    var rules: PolicyRuleSet
    /// Rules whose verdicts are only reported; `nil` for none.
    var shadow: PolicyRuleSet?
    var network = ReachabilityStatus.unknown
    /// Whether stored responses must be validated, because the farm's purges may be unknown.
    var validatesStored = false
    /// Counts the changes: values derived from an older version are not activated.
    fileprivate(set) var version = 0

    init(settings: ServerSettings, rules: PolicyRuleSet, shadow: PolicyRuleSet? = nil) {
        self.settings = settings
        self.rules = rules
        self.shadow = shadow
    }
}

extension ProxyServer {
    /// Activates settings for all later requests.
    func activate(_ change: (inout SettingsSource) -> Void) {
        let source = self.source.withLock { source in
            change(&source)
            source.version += 1
            return source
        }
        let current = Self.current(source, addresses: addresses, after: shared.current, shared.warn)
        self.source.withLock { newest in
            guard newest.version == source.version else { return }
            // Requests in flight under the old settings continue, but open no new connections while the gate is closed.
            current.settings.transport.gate.set(source.settings.gatePosition(in: current.context.mode))
            shared.replace(current)
            // The settings are posted while the lock is held, so that each loop gets the newest settings last.
            for thread in threads {
                thread.handle.post { loop in (loop.owner as? LoopWorker)?.adopt(current) }
            }
        }
    }

    /// Watches the network if the mode requires it.
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
