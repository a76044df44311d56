import HTTPMessage

extension TransformWords {
    /// The keys of `transform` that change the content; its other keys are options.
    private static let workKeys = ["plist_to_json", "xml_to_json", "strip_nulls", "json_pointer", "charset"]
    static let keys = workKeys + ["content_type", "on_error", "max_body", "max_output", "max_depth", "timeout"]

    init(parsing cursor: SettingsCursor, problems: inout SettingsProblems) {
        self.init()
        let before = problems.count
        guard let mapping = cursor.mapping(of: Self.keys, problems: &problems) else { return }
        if problems.count == before, !Self.workKeys.contains(where: { mapping[$0] != nil }) {
            cursor.report("nothing to transform: give one of \(Self.workKeys.joined(separator: ", "))", to: &problems)
        }
        readsPropertyLists = mapping["plist_to_json"]?.boolean(problems: &problems)
        readsXML = mapping["xml_to_json"]?.boolean(problems: &problems)
        nulls = mapping["strip_nulls"]?.word(
            among: ["true": .everywhere, "everywhere": .everywhere, "members": .members, "false": .keep], problems: &problems)
        if let pointers = mapping["json_pointer"] { readPointers(pointers, problems: &problems) }
        charset = mapping["charset"].flatMap { Self.reencoding($0, problems: &problems) }
        contentTypes = mapping["content_type"].map { cursor in
            cursor.oneOrMore(problems: &problems).compactMap { ValidationRule.mediaType($0, problems: &problems) }
        }
        onError = mapping["on_error"]?.word(among: ["fail": .fail, "pass": .pass], problems: &problems)
        let lengths = 1...PolicyLimits.checkedBodyLength
        maximumBodyLength = mapping["max_body"]?.byteCount(in: lengths, problems: &problems)
        maximumOutputLength = mapping["max_output"]?.byteCount(in: lengths, problems: &problems)
        maximumDepth = mapping["max_depth"]?.integer(in: PolicyLimits.transformDepth, problems: &problems)
        timeout = mapping["timeout"]?.milliseconds(in: PolicyLimits.transformTimeout, problems: &problems)
    }

    // MARK: JSON pointers

    private mutating func readPointers(_ cursor: SettingsCursor, problems: inout SettingsProblems) {
        guard let mapping = cursor.mapping(of: ["remove", "set"], problems: &problems) else { return }
        if mapping.isEmpty { cursor.report("nothing to do: give one of remove, set", to: &problems) }
        removals = mapping["remove"].map { cursor in
            cursor.oneOrMore(problems: &problems).compactMap { item in
                guard let text = item.text(problems: &problems),
                    Self.isPointer(text, path: item.path, at: item.node.place, problems: &problems)
                else { return nil }
                if text.isEmpty {
                    item.report("an empty pointer selects the whole value, which cannot be removed", to: &problems)
                }
                return text
            }
        }
        settings = mapping["set"].flatMap { cursor in
            cursor.entries(problems: &problems)?.compactMap { entry in
                let isPointer = Self.isPointer(entry.key, path: entry.value.path, at: entry.place, problems: &problems)
                guard let json = entry.value.json(problems: &problems), isPointer else { return nil }
                return Setting(place: entry.key, json: json)
            }
        }
        let count = (removals?.count ?? 0) + (settings?.count ?? 0)
        if count > PolicyLimits.pointers {
            cursor.report("a transform can have at most \(PolicyLimits.pointers) JSON pointers", to: &problems)
        }
        if settings?.isEmpty == true, mapping["set"].map({ $0.node.value }) == .mapping([]) {
            mapping["set"]?.report("the mapping is empty: give a JSON pointer and its value", to: &problems)
        }
    }

    /// Whether `text` is a JSON pointer (RFC 6901 §3).
    private static func isPointer(
        _ text: String, path: String, at place: SettingsPlace, problems: inout SettingsProblems
    ) -> Bool {
        let octets = Array(text.utf8)
        let badTilde = octets.indices.contains { index in
            guard octets[index] == UInt8(ascii: "~") else { return false }
            return index + 1 == octets.count || ![0x30, 0x31].contains(octets[index + 1])
        }
        if octets.isEmpty || octets.first == ASCII.slash, !badTilde, octets.count <= PolicyLimits.pointerLength { return true }
        problems.add(
            "expected a JSON pointer such as /users/0/name, with ~0 for ~ and ~1 for /, found `\(SettingsText.quoted(text))`",
            path: path, at: place, suggestion: badTilde || octets.isEmpty ? nil : "/" + SettingsText.quoted(text))
        return false
    }

    // MARK: Charsets

    /// Reads `utf-8`, or `{to: utf-8, from: windows-1251}`.
    private static func reencoding(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> Reencoding? {
        guard case .mapping = cursor.node.value else {
            return charset(cursor, problems: &problems).map { Reencoding(to: $0, from: nil) }
        }
        guard let mapping = cursor.mapping(of: ["to", "from"], problems: &problems) else { return nil }
        let from = mapping["from"].flatMap { charset($0, problems: &problems) }
        guard let to = mapping.required("to", problems: &problems).flatMap({ charset($0, problems: &problems) }) else {
            return nil
        }
        return Reencoding(to: to, from: from)
    }

    private static func charset(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> CharsetName? {
        guard let text = cursor.text(problems: &problems) else { return nil }
        if let name = CharsetName(text) { return name }
        cursor.report(
            "expected a charset such as utf-8, windows-1252 or shift_jis, found `\(SettingsText.quoted(text))`",
            suggestion: NearestName.of(text.lowercased(), among: CharsetName.labels), to: &problems)
        return nil
    }
}
