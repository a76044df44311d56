import Foundation

/// The limits that this process inherited, for a child: the child gets these limits, not the limits that serving needs.
struct InheritedLimits {
    private let limits: [(resource: __rlimit_resource_t, limit: rlimit)]

    /// The limits that apply now.
    init() {
        limits = [RLIMIT_NOFILE, RLIMIT_CORE].compactMap { resource in
            let resource = __rlimit_resource_t(resource.rawValue)
            var limit = rlimit()
            return getrlimit(resource, &limit) == 0 ? (resource, limit) : nil
        }
    }

    /// Applies the inherited limits while `work` runs.
    func lent<Value>(_ work: () -> Value) -> Value {
        let own = InheritedLimits()
        set()
        defer { own.set() }
        return work()
    }

    private func set() {
        for (resource, limit) in limits {
            var limit = limit
            setrlimit(resource, &limit)
        }
    }
}
