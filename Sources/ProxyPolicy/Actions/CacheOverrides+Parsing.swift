import HTTPCaching

extension CacheOverrides {
    private static let keys = ["policy", "store", "ttl", "max_size", "unsafe"]

    /// Reads the `cache` of one rule.
    init(parsing cursor: SettingsCursor, problems: inout SettingsProblems) {
        self.init()
        guard let mapping = cursor.mapping(of: Self.keys, problems: &problems) else { return }
        if mapping.isEmpty { cursor.report("nothing to do: give policy, store, ttl or max_size", to: &problems) }
        policy = mapping["policy"]?.word(
            among: [
                "use_protocol": CachePolicy.useProtocol, "reload": .reload, "reload_all": .reloadAll,
                "stored_else_load": .storedElseLoad, "stored_only": .storedOnly, "revalidate": .revalidate,
            ], problems: &problems)
        storeNever = mapping["store"]?.word(among: ["never": true], problems: &problems) ?? false
        timeToLive = mapping["ttl"].flatMap { Self.lifetime($0, problems: &problems) }
        maximumBodyLength = mapping["max_size"]?.byteCount(in: 0...UInt64.max, problems: &problems)
        unsafe = mapping["unsafe"]?.boolean(problems: &problems) ?? false
        if unsafe, mapping["policy"] == nil, mapping["ttl"] == nil {
            mapping["unsafe"]?.report(
                "unsafe holds for the policy and the ttl of its own rule, and neither is given", to: &problems)
        }
    }

    private static func lifetime(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> DeltaSeconds? {
        let longest = Int64(DeltaSeconds.greatest.seconds)
        guard let milliseconds = cursor.milliseconds(in: 0...longest * 1000, problems: &problems) else { return nil }
        guard milliseconds % 1000 == 0 else {
            cursor.report("a lifetime is a whole number of seconds", to: &problems)
            return nil
        }
        return DeltaSeconds(milliseconds / 1000)
    }
}
