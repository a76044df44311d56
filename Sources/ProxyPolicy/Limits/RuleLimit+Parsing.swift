import HTTPMessage

extension RuleLimit {
    static let keys = [
        "request_body", "response_body", "rate", "requests", "bytes_out", "bytes_in", "per", "within",
    ]

    /// Reads a rule's `limit` mapping.
    init(parsing cursor: SettingsCursor, problems: inout SettingsProblems) {
        self.init()
        guard let mapping = cursor.mapping(of: Self.keys, problems: &problems) else { return }
        requestBody = mapping["request_body"]?.byteCount(in: 0...UInt64.max, problems: &problems)
        responseBody = mapping["response_body"]?.byteCount(in: 0...UInt64.max, problems: &problems)
        rate = mapping["rate"].flatMap { Rate(parsing: $0, problems: &problems) }
        requests = mapping["requests"]?.integer(in: 1...PolicyLimits.quotaOfRequests, problems: &problems).map { UInt64($0) }
        bytesOut = mapping["bytes_out"]?.byteCount(in: 0...UInt64.max, problems: &problems)
        bytesIn = mapping["bytes_in"]?.byteCount(in: 1...UInt64.max, problems: &problems)
        window = mapping["within"].flatMap { Self.window($0, problems: &problems) }
        scope = mapping["per"]?.word(among: Self.scopes, problems: &problems) ?? .rule
        let quotaKeys = ["requests", "bytes_out", "bytes_in"].filter { mapping[$0] != nil }
        let countedKeys = quotaKeys + (mapping["rate"] == nil ? [] : ["rate"])
        if countedKeys.isEmpty, mapping["request_body"] == nil, mapping["response_body"] == nil {
            cursor.report(
                "nothing is limited: give request_body, response_body, rate, requests, bytes_out or bytes_in", to: &problems)
        }
        if let quota = quotaKeys.first, mapping["within"] == nil {
            mapping[quota]?.report(
                "\(quota) is a quota for a period: add `within`, such as `within: 1h` or `within: run`", to: &problems)
        }
        if quotaKeys.isEmpty { mapping["within"]?.report("`within` needs `requests`, `bytes_out` or `bytes_in`", to: &problems) }
        if countedKeys.isEmpty {
            mapping["per"]?.report("`per` needs `rate`, `requests`, `bytes_out` or `bytes_in`", to: &problems)
        }
    }

    private static let scopes: KeyValuePairs<String, Scope> = [
        "rule": .rule, "client": .client, "user": .user, "run": .run, "host": .host,
    ]

    private static func window(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> Window? {
        if case .scalar(let scalar) = cursor.node.value, scalar.text == "run" { return .run }
        return cursor.milliseconds(in: PolicyLimits.quotaWindow, problems: &problems).map { .microseconds(UInt64($0) * 1000) }
    }
}

extension RuleLimit.Rate {
    /// Reads a rate such as `10/s`.
    fileprivate init?(parsing cursor: SettingsCursor, problems: inout SettingsProblems) {
        guard let text = cursor.text(problems: &problems) else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.allSatisfy(ASCII.isDigit), let count = UInt64(parts[0]),
            (1...PolicyLimits.rate).contains(count), let unit = Self.units.first(where: { $0.key == parts[1] })
        else {
            cursor.report(
                "expected a number of requests from 1 to \(PolicyLimits.rate) and a unit, such as 10/s, 600/m or 5000/h",
                to: &problems)
            return nil
        }
        self.init(count: count, microseconds: unit.value)
    }
}
