import HTTPCaching
import HTTPMessage

extension CacheRule {
    static let keys = [
        "policy", "store", "ttl", "max_size", "grace", "heuristic", "collapse", "fill", "variants", "tags", "key",
        "set_cookie", "ignore", "unsafe",
    ]

    /// Reads a rule's `cache` mapping.
    init(parsing cursor: SettingsCursor, problems: inout SettingsProblems) {
        self.init()
        guard let mapping = cursor.mapping(of: Self.keys, problems: &problems) else { return }
        if mapping.isEmpty { cursor.report("nothing to do: give policy, store, ttl or another key", to: &problems) }
        overrides.policy = mapping["policy"]?.word(
            among: [
                "use_protocol": CachePolicy.useProtocol, "reload": .reload, "reload_all": .reloadAll,
                "stored_else_load": .storedElseLoad, "stored_only": .storedOnly, "revalidate": .revalidate,
            ], problems: &problems)
        overrides.storeNever = mapping["store"]?.word(among: ["never": true], problems: &problems) ?? false
        if let lifetimes = mapping["ttl"] { overrides.readLifetimes(lifetimes, problems: &problems) }
        overrides.maximumBodyLength = mapping["max_size"]?.byteCount(in: 0...UInt64.max, problems: &problems)
        overrides.grace = mapping["grace"].flatMap { $0.deltaSeconds(problems: &problems) }
        overrides.permitsHeuristic = mapping["heuristic"]?.boolean(problems: &problems)
        overrides.collapsing = mapping["collapse"].flatMap { Self.collapsing($0, problems: &problems) }
        overrides.fillsParts = mapping["fill"]?.boolean(problems: &problems)
        overrides.variantLimit = mapping["variants"]?.integer(in: 1...PolicyLimits.variants, problems: &problems).map { Int($0) }
        overrides.setCookie = mapping["set_cookie"]?.word(
            among: ["explicit": .explicit, "never": .never, "always": .always], problems: &problems)
        overrides.ignored = mapping["ignore"].map { Self.directives($0, problems: &problems) } ?? []
        tags = mapping["tags"].map { Self.tags($0, problems: &problems) } ?? []
        key = mapping["key"].map { KeyRewriting(parsing: $0, problems: &problems) }
        overrides.unsafe = mapping["unsafe"]?.boolean(problems: &problems) ?? false
        checkUnsafe(mapping, problems: &problems)
    }

    /// Requires `unsafe: true` if the rule overrides RFC 9111, and reports `unsafe` if no setting of the rule needs it.
    private func checkUnsafe(_ mapping: SettingsMapping, problems: inout SettingsProblems) {
        let posts = key?.bodyMethods?.contains(.post) ?? false
        let overridingWords: [(isGiven: Bool, cursor: SettingsCursor?, what: String)] = [
            (
                !overrides.ignored.isEmpty, mapping["ignore"],
                "the rule stores responses although the origin server forbids storing them"
            ),
            (
                overrides.setCookie == .always, mapping["set_cookie"],
                "the rule stores responses with Set-Cookie even if a heuristic or a rule sets their lifetime"
            ),
            (posts, mapping["key"], "the rule serves responses to POST from the store (RFC 9111 §4)"),
        ]
        if !overrides.unsafe {
            for word in overridingWords where word.isGiven {
                word.cursor?.report("\(word.what): add `unsafe: true`", to: &problems)
            }
        } else if overrides.policy == nil, !overrides.givesLifetime, !overridingWords.contains(where: \.isGiven) {
            mapping["unsafe"]?.report(
                "`unsafe` has no effect without policy, ttl, ignore, set_cookie: always or key.body: POST",
                to: &problems)
        }
    }

    /// Reads `true`, `false`, or `{wait: 5s}`.
    private static func collapsing(
        _ cursor: SettingsCursor, problems: inout SettingsProblems
    ) -> CacheOverrides.Collapsing? {
        guard case .mapping = cursor.node.value else {
            return cursor.boolean(problems: &problems).map { $0 ? .always : .never }
        }
        guard let mapping = cursor.mapping(of: ["wait"], problems: &problems) else { return nil }
        let wait = mapping.required("wait", problems: &problems)
        return wait?.milliseconds(in: 1...PolicyLimits.collapsedWaitInMilliseconds, problems: &problems).map {
            .within(milliseconds: $0)
        }
    }

    private static func directives(
        _ cursor: SettingsCursor, problems: inout SettingsProblems
    ) -> CacheOverrides.Directives {
        var directives: CacheOverrides.Directives = []
        for item in cursor.oneOrMore(problems: &problems) {
            let directive = item.word(
                among: ["no-store": CacheOverrides.Directives.noStore, "private": .private], problems: &problems)
            if let directive { directives.insert(directive) }
        }
        return directives
    }

    /// Accepts visible ASCII except the characters that separate or quote tags in fields and commands.
    private static func tags(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> [String] {
        let items = cursor.oneOrMore(problems: &problems)
        if items.count > PolicyLimits.tags { cursor.report("a rule can have at most \(PolicyLimits.tags) tags", to: &problems) }
        return items.compactMap { item in
            guard let text = item.text(problems: &problems) else { return nil }
            let isReadable = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !",\"\\".utf8.contains($0) }
            if (1...PolicyLimits.tagLength).contains(text.utf8.count), isReadable { return text }
            item.report(
                "a tag must be 1 to \(PolicyLimits.tagLength) visible ASCII characters without comma, \" and \\", to: &problems)
            return nil
        }
    }
}
