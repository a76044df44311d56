import HTTPMessage

extension ValidationRule {
    static let keys = ["status", "content_type", "replace", "wellformed", "on_failure", "oversize", "max_body"]

    init(parsing cursor: SettingsCursor, problems: inout SettingsProblems) {
        self.init()
        guard let mapping = cursor.mapping(of: Self.keys, problems: &problems) else { return }
        if mapping.isEmpty { cursor.report("nothing to check: give status, content_type or wellformed", to: &problems) }
        statuses = mapping["status"].map { cursor in
            cursor.oneOrMore(problems: &problems).compactMap { Self.statusRange($0, problems: &problems) }
        }
        contentTypes = mapping["content_type"].map { cursor in
            cursor.oneOrMore(problems: &problems).compactMap { Self.mediaType($0, problems: &problems) }
        }
        replaces = mapping["replace"]?.boolean(problems: &problems) ?? false
        wellformed = mapping["wellformed"].flatMap { Self.bodyKinds($0, problems: &problems) }
        onFailure = mapping["on_failure"]?.word(
            among: ["block": .block, "annotate": .annotate, "pass": .pass, "stale": .stale], problems: &problems)
        oversize = mapping["oversize"]?.word(among: ["pass": .pass, "block": .block], problems: &problems)
        maximumBodyLength = mapping["max_body"]?.byteCount(in: 1...PolicyLimits.checkedBodyLength, problems: &problems)
        if replaces, statuses == nil, contentTypes == nil {
            mapping["replace"]?.report("`replace` needs `status` or `content_type` too", to: &problems)
        }
    }

    private static let kinds: KeyValuePairs<String, BodyKinds> = [
        "json": .json, "xml": .xml, "plist": .propertyList, "image": .image,
    ]

    /// Reads one format of the body such as `json`, or `none`, or several such as `{any_of: [json, image]}`.
    private static func bodyKinds(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> BodyKinds? {
        switch cursor.node.value {
        case .mapping:
            guard let mapping = cursor.mapping(of: ["any_of"], problems: &problems),
                let list = mapping.required("any_of", problems: &problems)?.list(problems: &problems)
            else { return nil }
            var found: BodyKinds = []
            for item in list {
                guard let kind = item.word(among: kinds, problems: &problems) else { continue }
                if !found.insert(kind).inserted { item.report("this kind is listed twice", to: &problems) }
            }
            if list.count < 2 { cursor.report("`any_of` needs two or more kinds", to: &problems) }
            return found
        case .sequence:
            cursor.report("expected one kind, or several in any_of: {any_of: [json, image]}", to: &problems)
            return nil
        case .scalar:
            return cursor.word(
                among: ["json": .json, "xml": .xml, "plist": .propertyList, "image": .image, "none": []], problems: &problems)
        }
    }

    private static func statusRange(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> StatusRange? {
        guard let text = cursor.text(problems: &problems) else { return nil }
        if let range = StatusRange(parsing: text) { return range }
        cursor.report(
            "expected a status from 100 to 599 or a range such as 200-299, found `\(SettingsText.quoted(text))`", to: &problems)
        return nil
    }

    static func mediaType(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> MediaTypePattern? {
        guard let text = cursor.text(problems: &problems) else { return nil }
        if let pattern = MediaTypePattern(text) { return pattern }
        let hint = text.contains(";") ? " without parameters" : ""
        cursor.report(
            "expected a media type such as application/json, text/* or */*+json\(hint), found `\(SettingsText.quoted(text))`",
            to: &problems)
        return nil
    }
}
