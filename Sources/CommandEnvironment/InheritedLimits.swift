import Foundation

/// The limits with which this process was begun, for a child: it gets what its parent's parent gave, not what serving needs.
struct InheritedLimits {
    private let limits: [(resource: __rlimit_resource_t, limit: rlimit)]

    /// As they are now.
    init() {
        limits = [RLIMIT_NOFILE, RLIMIT_CORE].compactMap { resource in
            let resource = __rlimit_resource_t(resource.rawValue)
            var limit = rlimit()
            return getrlimit(resource, &limit) == 0 ? (resource, limit) : nil
        }
    }

    /// Has them apply while `work` is done.
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
