import HTTPMessage

extension RuleCondition {
    static let keys = [
        "host", "port", "scheme", "path", "method", "query", "field", "content_length", "operation",
        "client", "user", "certificate", "run",
    ]

    private static let keysWithExclusions = keys + ["not"]

    init(parsing cursor: SettingsCursor, problems: inout SettingsProblems) {
        self.init()
        guard let mapping = cursor.mapping(of: Self.keysWithExclusions, problems: &problems) else { return }
        read(mapping, problems: &problems)
        if let excluded = mapping["not"] { exclusions = Self.exclusions(excluded, problems: &problems) }
        otherWords = Self.otherWords(in: cursor.node)
        // The paths of an operation begin at the folders that `path` names. So the text that tools compare must contain the folders.
        if !operations.isEmpty { for folder in paths.compactMap({ $0.folder }) { otherWords += [0xFF] + Array(folder.utf8) } }
    }

    private mutating func read(_ mapping: SettingsMapping, problems: inout SettingsProblems) {
        if mapping.isEmpty {
            mapping.whole.report("`match` is empty; remove this key if the rule is for every request", to: &problems)
        }
        hosts = Self.values(mapping["host"], Self.host, problems: &problems)
        ports = Self.values(mapping["port"], Self.port, problems: &problems)
        schemes = Self.values(mapping["scheme"], Self.scheme, problems: &problems)
        paths = Self.values(mapping["path"], Self.path, problems: &problems)
        methods = Self.values(mapping["method"], Self.method, problems: &problems)
        queries = Self.queries(mapping["query"], problems: &problems)
        fields = Self.fields(mapping["field"], problems: &problems)
        if let operation = mapping["operation"] {
            operations = Self.operations(operation, below: paths.compactMap { $0.folder }, problems: &problems)
        }
        contentLengths = Self.values(mapping["content_length"], Self.contentLength, problems: &problems)
        client.addresses = Self.values(mapping["client"], Self.client, problems: &problems)
        client.users = mapping["user"].map { Self.patterns($0, problems: &problems) } ?? []
        client.certificates = mapping["certificate"].map { Self.patterns($0, problems: &problems) } ?? []
        client.runs = mapping["run"].map { Self.patterns($0, problems: &problems) } ?? []
    }

    /// The keys of `match` that tools do not compare one by one: all except `method` and the keys for the URL, which include `query`.
    private static func otherWords(in match: SettingsNode) -> [UInt8] {
        guard case .mapping(let entries) = match.value, entries.contains(where: { !isCompared($0.key) }) else { return [] }
        var text: [UInt8] = []
        SettingsNode(.mapping(entries.filter { !isCompared($0.key) }), at: .none).write(into: &text)
        return text
    }

    /// Whether tools compare the values of this key of `match`.
    private static func isCompared(_ key: String) -> Bool {
        switch key {
        case "host", "port", "scheme", "path", "method", "query": true
        default: false
        }
    }

    private static func values<Value>(
        _ cursor: SettingsCursor?, _ read: (SettingsCursor, inout SettingsProblems) -> Value?, problems: inout SettingsProblems
    ) -> [Value] {
        cursor?.oneOrMore(problems: &problems).compactMap { read($0, &problems) } ?? []
    }

    private static func host(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> HostPattern? {
        guard let text = cursor.text(problems: &problems) else { return nil }
        do {
            return try HostPattern(text)
        } catch {
            cursor.report("`\(SettingsText.quoted(text))` is not a host: \(error.explanation)", to: &problems)
            return nil
        }
    }

    private static func port(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> ClosedRange<UInt16>? {
        guard let text = cursor.text(problems: &problems) else { return nil }
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { part in
            part.utf8.count <= 5 && part.utf8.allSatisfy(ASCII.isDigit) ? UInt16(part) : nil
        }
        if ends.count <= 2, let first = ends.first ?? nil, let last = ends.last ?? nil, first >= 1, first <= last {
            return first...last
        }
        cursor.report(
            "expected a port from 1 to 65535 or a range such as 8000-8999, found `\(SettingsText.quoted(text))`", to: &problems)
        return nil
    }

    /// Reads one mapping, or a list of mappings.
    private static func exclusions(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> [RuleCondition] {
        guard case .sequence(let nodes) = cursor.node.value else { return [excluded(cursor, problems: &problems)] }
        if nodes.isEmpty { cursor.report("the list is empty; remove the key instead", to: &problems) }
        return (cursor.list(problems: &problems) ?? []).map { excluded($0, problems: &problems) }
    }

    private static func excluded(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> RuleCondition {
        var condition = RuleCondition()
        if let mapping = cursor.mapping(of: keys, problems: &problems) { condition.read(mapping, problems: &problems) }
        return condition
    }

    /// Reads a range of lengths such as `1MiB`, `0-1MiB` or `1MiB-`.
    private static func contentLength(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> ClosedRange<UInt64>? {
        guard let text = cursor.text(problems: &problems) else { return nil }
        let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let isOpen = ends.count == 2 && ends[1].isEmpty
        let first = SettingsQuantity.byteCount(String(ends[0]))
        let last = isOpen ? UInt64.max : ends.last.flatMap { SettingsQuantity.byteCount(String($0)) }
        if let first, let last, first <= last { return first...last }
        cursor.report(
            "expected a number of bytes or a range such as 0-1MiB or 1MiB-, found `\(SettingsText.quoted(text))`", to: &problems)
        return nil
    }

    private static func client(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> AddressRange? {
        guard let text = cursor.text(problems: &problems) else { return nil }
        if let range = AddressRange(text) { return range }
        cursor.report(
            "expected an address or a range such as 10.0.0.0/8, found `\(SettingsText.quoted(text))`", to: &problems)
        return nil
    }

    private static func scheme(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> RequestTarget.Scheme? {
        cursor.word(among: ["http": .http, "https": .https], problems: &problems)
    }

    private static func path(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> PathPattern? {
        guard let text = cursor.text(problems: &problems) else { return nil }
        do {
            return try PathPattern(text)
        } catch {
            cursor.report("`\(SettingsText.quoted(text))` is not a path: \(error.explanation)", to: &problems)
            return nil
        }
    }

    private static let methodNames = Method.allCases.filter { $0 != .other }.map { "\($0.name)" }

    /// Methods are case-sensitive. Without this check, `get` would be accepted and never match.
    private static func method(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> MethodName? {
        guard let text = cursor.text(problems: &problems) else { return nil }
        if methodNames.contains(text) { return MethodName(text) }
        let known = methodNames
        let upper = text.uppercased()
        guard let name = MethodName(text), !known.contains(upper) else {
            let suggestion = known.contains(upper) ? upper : NearestName.of(text, among: known)
            cursor.report("`\(SettingsText.quoted(text))` is not a method", suggestion: suggestion, to: &problems)
            return nil
        }
        return name
    }

    private static func operations(
        _ cursor: SettingsCursor, below folders: [String], problems: inout SettingsProblems
    ) -> [RuleCondition] {
        values(cursor, { operation($0, below: folders, problems: &$1) }, problems: &problems).flatMap { $0 }
    }

    private static func operation(
        _ cursor: SettingsCursor, below folders: [String], problems: inout SettingsProblems
    ) -> [RuleCondition]? {
        guard let text = cursor.text(problems: &problems) else { return nil }
        guard let operation = NamedOperation(rawValue: text) else {
            let names = NamedOperation.allCases.map(\.rawValue).joined(separator: ", ")
            cursor.report(
                "expected one of \(names), found `\(SettingsText.quoted(text))`", suggestion: NamedOperation.nearest(to: text),
                to: &problems)
            return nil
        }
        do {
            return try operation.conditions(below: folders)
        } catch {
            cursor.report(
                "a path of the operation \(text), combined with match.path, is too long: \(error.explanation)", to: &problems)
            return nil
        }
    }
}

extension HostPattern.Fault {
    var explanation: String {
        switch self {
        case .empty: "the host is empty"
        case .tooLong:
            "a host can have at most \(Authority.hostLengthLimit) characters in total, and \(Authority.labelLengthLimit) between two dots"
        case .moreThanHost: "give only the host, without scheme, path or user"
        case .port: "give the port in the key `port`"
        case .malformedAddress: "write an address as four decimal numbers, or as IPv6 in brackets"
        case .starNotInFront: "a star can only replace whole labels at the start, as in *.example.com"
        case .emptyLabel: "a label between dots is empty"
        case .notInHosts(let scalar) where scalar.isASCII: "`\(SettingsText.quoted(String(scalar)))` is not allowed in host names"
        case .notInHosts: "write non-ASCII names in their xn-- form"
        }
    }
}

extension PathPattern.Fault {
    var explanation: String {
        switch self {
        case .empty: "the path is empty"
        case .tooLong: "a path can have at most \(PathPattern.longest) bytes"
        case .noLeadingSlash: "a path must begin with a slash or a star"
        case .notInPaths(UInt8(ascii: "?")): "the query is not part of the path"
        case .notInPaths(UInt8(ascii: "#")): "clients never send a fragment"
        case .notInPaths: "percent-encode spaces and control characters (a space is %20)"
        }
    }
}
