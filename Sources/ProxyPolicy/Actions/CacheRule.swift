import HTTPCaching

/// The `cache` of one rule.
package struct CacheRule: Equatable, Sendable {
    package let overrides: CacheOverrides

    private static let keys = ["policy", "store", "ttl", "max_size", "unsafe"]

    init(parsing cursor: SettingsCursor, problems: inout SettingsProblems) {
        var overrides = CacheOverrides()
        if let mapping = cursor.mapping(of: Self.keys, problems: &problems) {
            if mapping.isEmpty { cursor.report("nothing to do: give policy, store, ttl or max_size", to: &problems) }
            overrides.policy = mapping["policy"]?.word(
                among: [
                    "use_protocol": CachePolicy.useProtocol, "reload": .reload, "reload_all": .reloadAll,
                    "stored_else_load": .storedElseLoad, "stored_only": .storedOnly, "revalidate": .revalidate,
                ], problems: &problems)
            overrides.storeNever = mapping["store"]?.word(among: ["never": true], problems: &problems) ?? false
            overrides.timeToLive = mapping["ttl"].flatMap { Self.timeToLive($0, problems: &problems) }
            overrides.maximumBodyLength = mapping["max_size"]?.byteCount(in: 0...UInt64.max, problems: &problems)
            overrides.unsafe = mapping["unsafe"]?.boolean(problems: &problems) ?? false
            if overrides.unsafe, mapping["policy"] == nil, mapping["ttl"] == nil {
                mapping["unsafe"]?.report(
                    "unsafe holds for the policy and the ttl of its own rule, and neither is given", to: &problems)
            }
        }
        self.overrides = overrides
    }

    private static func timeToLive(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> DeltaSeconds? {
        let longest = Int64(DeltaSeconds.greatest.seconds)
        guard let milliseconds = cursor.milliseconds(in: 0...longest * 1000, problems: &problems) else { return nil }
        guard milliseconds % 1000 == 0 else {
            cursor.report("a lifetime is a whole number of seconds", to: &problems)
            return nil
        }
        return DeltaSeconds(milliseconds / 1000)
    }
}

/// The cache words of all matching rules. A later rule's word takes the place of an earlier one's.
///
/// `unsafe` belongs to the words of its own rule: it comes out true only if every word that is left was said by a rule that
/// said `unsafe` too, so that no rule is made stronger by another.
struct GatheredCacheWords: Sendable {
    private var gathered = CacheOverrides()
    private var policyIsUnsafe = false
    private var timeToLiveIsUnsafe = false

    var overrides: CacheOverrides {
        var result = gathered
        let saysWord = gathered.policy != nil || gathered.timeToLive != nil
        let policyAgrees = gathered.policy == nil || policyIsUnsafe
        let timeToLiveAgrees = gathered.timeToLive == nil || timeToLiveIsUnsafe
        result.unsafe = saysWord && policyAgrees && timeToLiveAgrees
        return result
    }

    mutating func merge(_ later: CacheOverrides) {
        if later.policy != nil { policyIsUnsafe = later.unsafe }
        if later.timeToLive != nil { timeToLiveIsUnsafe = later.unsafe }
        gathered.merge(later)
    }
}
