import HTTPCaching
import HTTPMessage

extension PolicyRule {
    private static let keys = [
        "name", "match", "allow", "deny", "ask", "tunnel", "request", "response", "cache", "validate", "transform", "mode",
        "limit", "enforce", "upstream",
    ]

    /// The keys that a rule with `deny` or `ask` cannot have.
    private static let changeKeys = [
        "allow", "request", "response", "cache", "validate", "transform", "mode", "limit", "upstream",
    ]

    /// The keys inside the values of a rule's keys.
    private static let innerKeys: [(place: String, keys: [String])] = [
        ("match", RuleCondition.keys), ("cache", CacheRule.keys), ("cache.key", KeyRewriting.keys),
        ("validate", ValidationRule.keys), ("ask", RuleQuestion.keys), ("transform", TransformWords.keys),
        ("limit", RuleLimit.keys), ("upstream", ["parent_verifies"]),
    ]

    /// The probable meaning of an unknown key of a rule: `cache.ttl` for `ttl`, else the nearest key of a rule.
    private static func suggestion(for key: String) -> String? {
        let places = innerKeys.filter { $0.keys.contains(key) }
        return places.count == 1 ? "\(places[0].place).\(key)" : NearestName.of(key, among: keys)
    }

    /// - Returns: `nil` if the name could not be read. The rule must not be used if a problem was added.
    convenience init?(parsing cursor: SettingsCursor, problems: inout SettingsProblems) {
        let problemsBefore = problems.count
        guard let mapping = cursor.mapping(of: Self.keys, suggestion: Self.suggestion, problems: &problems) else { return nil }
        let name = mapping.required("name", problems: &problems).flatMap { Self.name($0, problems: &problems) }
        let condition = mapping["match"].map { RuleCondition(parsing: $0, problems: &problems) } ?? RuleCondition()
        let requestWords = mapping["request"].flatMap {
            Self.words($0, FieldEdits.keys + ["upgrade"], problems: &problems)
        }
        let request = requestWords.map { FieldEdits(parsing: $0, of: .request, problems: &problems) }
        let upgrades = requestWords?["upgrade"].map { Self.upgrade($0, of: condition, problems: &problems) }
        let responseWords = mapping["response"].flatMap { Self.words($0, FieldEdits.keys, problems: &problems) }
        let response = responseWords.map { FieldEdits(parsing: $0, of: .response, problems: &problems) }
        let cache = mapping["cache"].map { CacheRule(parsing: $0, problems: &problems) }
        let validation = mapping["validate"].map { ValidationRule(parsing: $0, problems: &problems) }
        let transform = mapping["transform"].map { TransformWords(parsing: $0, problems: &problems) }
        let mode = mapping["mode"].map { Self.mode($0, problems: &problems) }
        let denial = mapping["deny"].map { Denial(parsing: $0, problems: &problems) }
        let question = mapping["ask"].map { RuleQuestion(parsing: $0, problems: &problems) }
        let allows = mapping["allow"].map { Self.isAllowed($0, problems: &problems) } ?? false
        let anyTunnel = mapping["tunnel"].map { $0.word(among: ["any": true], problems: &problems) ?? false } ?? false
        let limit = mapping["limit"].map { RuleLimit(parsing: $0, problems: &problems) }
        let upstream = mapping["upstream"].flatMap { UpstreamChoice(parsing: $0, problems: &problems) }
        let enforcement = mapping["enforce"].flatMap {
            Enforcement(parsing: $0, denies: mapping["deny"] != nil, problems: &problems)
        }
        if let tunnel = mapping["tunnel"] {
            Self.check(tunnel, of: condition, allows: mapping["allow"] != nil, problems: &problems)
        }
        let change = Self.changeKeys.first { mapping.contains($0) }
        if denial != nil, let change {
            mapping[change]?.report("a rule with `deny` cannot have other actions", to: &problems)
        }
        if question != nil, let other = (["deny"] + Self.changeKeys).first(where: { mapping.contains($0) }) {
            mapping[other]?.report("a rule with `ask` cannot have other actions", to: &problems)
        }
        // A rule with an unknown key was meant to do something.
        if denial == nil, question == nil, change == nil, problems.count == problemsBefore {
            cursor.report(
                "the rule does nothing: give allow, deny, ask, request, response, cache, validate, transform, mode, limit or upstream",
                to: &problems)
        }
        if cache?.key != nil, !condition.looksAtTargetOnly {
            // A request with an unsafe method must invalidate all keys of its URI. So the keys must not depend on the client or on
            // fields of the request.
            mapping["match"]?.report(
                "a rule with cache.key cannot match field, content_length, client, user, certificate or run", to: &problems)
        }
        guard let name else { return nil }
        self.init(
            name: name, condition: condition, reason: denial.map { $0.reason ?? "denied by the rule \(name)" },
            deniedUse: denial?.stored, allows: allows, question: question, allowsAnyTunnel: anyTunnel,
            request: request ?? FieldEdits(), response: response ?? FieldEdits(), cache: cache, validation: validation,
            transform: transform.map { TransformPlan($0, ruleName: name) },
            upgradesToTLS: upgrades ?? false, upstream: upstream, mode: mode ?? nil,
            keyText: cache?.key?.changesURI == true ? Self.text(of: mapping["match"]?.node, mapping["cache"]?.node["key"]) : [],
            limit: limit, enforcement: enforcement)
    }

    private static func text(of nodes: SettingsNode?...) -> [UInt8] {
        var text: [UInt8] = []
        for node in nodes { (node ?? SettingsNode(.mapping([]), at: .none)).write(into: &text) }
        return text
    }

    /// The keys that change a request or a response.
    private static func words(
        _ cursor: SettingsCursor, _ keys: [String], problems: inout SettingsProblems
    ) -> SettingsMapping? {
        guard let mapping = cursor.mapping(of: keys, problems: &problems) else { return nil }
        if mapping.isEmpty { cursor.report("nothing to do: give one of \(keys.joined(separator: ", "))", to: &problems) }
        return mapping
    }

    private static func mode(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> RuleMode? {
        cursor.word(
            among: [
                "live": RuleMode.live, "offline": .offline, "replay": .replay, "record": .record,
                "record_missing": .recordMissing,
            ], problems: &problems)
    }

    /// Reads `upgrade: https`. Only a rule that can match http requests may have it.
    private static func upgrade(
        _ cursor: SettingsCursor, of condition: RuleCondition, problems: inout SettingsProblems
    ) -> Bool {
        let isAsked = cursor.word(among: ["https": true], problems: &problems) ?? false
        if !condition.schemes.isEmpty, !condition.schemes.contains(.http) {
            cursor.report("nothing to upgrade: match.scheme excludes http", to: &problems)
        }
        if !condition.methods.isEmpty, condition.methods.allSatisfy({ $0.method == .connect }) {
            cursor.report("nothing to upgrade: Larder cannot change requests inside a CONNECT tunnel", to: &problems)
        }
        return isAsked
    }

    /// Accepts a name of visible ASCII and inner spaces, without `"` and `\`, because the name appears quoted in logs and in structured
    /// fields.
    private static func name(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> String? {
        guard let text = cursor.text(problems: &problems) else { return nil }
        let isVisible = text.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != ASCII.quote && $0 != ASCII.backslash }
        let isTrimmed = text.first != " " && text.last != " "
        guard (1...PolicyLimits.nameLength).contains(text.utf8.count), isVisible, isTrimmed else {
            cursor.report(
                "a rule's name must be 1 to \(PolicyLimits.nameLength) visible ASCII characters without \" and \\", to: &problems)
            return nil
        }
        return text
    }

    /// Reads `allow: {}`, or `allow:`. The rule allows the requests that it matches.
    private static func isAllowed(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> Bool {
        if cursor.isNull { return true }
        if case .scalar = cursor.node.value {
            cursor.report("write `allow: {}`; a rule without allow allows nothing", to: &problems)
            return false
        }
        return cursor.mapping(of: [], problems: &problems) != nil
    }

    /// Reports `tunnel: any` in a rule that allows no tunnels.
    private static func check(
        _ cursor: SettingsCursor, of condition: RuleCondition, allows: Bool, problems: inout SettingsProblems
    ) {
        if !allows {
            cursor.report("`tunnel` needs `allow: {}` in the same rule", to: &problems)
        } else if !condition.allowsTunnels {
            cursor.report(
                "this rule allows no tunnel, because its match looks at the requests in the tunnel; remove tunnel, or remove path, method, query, field, content_length, operation and not",
                to: &problems)
        }
    }
}

extension PolicyRule {
    /// The value of `deny`: `{reason: …, stored: …}`. `deny:` and `deny: {}` deny too.
    fileprivate struct Denial {
        var reason: String?
        var stored: DeniedUse?

        init(parsing cursor: SettingsCursor, problems: inout SettingsProblems) {
            if cursor.isNull { return }
            guard let mapping = cursor.mapping(of: ["reason", "stored"], problems: &problems) else { return }
            reason = mapping["reason"].flatMap { Self.reason($0, problems: &problems) }
            stored = mapping["stored"].flatMap { $0.word(among: ["deny": .deny, "serve": .serve], problems: &problems) }
        }

        private static func reason(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> String? {
            guard let text = cursor.text(problems: &problems) else { return nil }
            let hasControl = text.unicodeScalars.contains { $0.properties.generalCategory == .control }
            guard (1...PolicyLimits.reasonLength).contains(text.utf8.count), !hasControl else {
                cursor.report("a reason must be one line of 1 to \(PolicyLimits.reasonLength) bytes", to: &problems)
                return nil
            }
            return text
        }
    }
}
