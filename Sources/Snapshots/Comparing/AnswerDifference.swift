import HTTPMessage

/// In what one answer differs from another to the same request. What differs from one answer to the next anyway does not count.
struct AnswerDifference {
    var aspects: SnapshotDiff.Aspects = []
    /// In lower case, sorted: the names of fields whose lines differ.
    var fieldNames: [String] = []

    init(from old: Recording, to new: Recording) {
        if old.response?.status != new.response?.status { aspects.insert(.status) }
        if old.failure?.kind != new.failure?.kind { aspects.insert(.failure) }
        if old.response?.body?.digest != new.response?.body?.digest { aspects.insert(.body) }
        let lines = [old, new].map {
            Set($0.response.map { ContentForm.allLines(of: $0) } ?? [])
        }
        fieldNames = Set(
            lines[0].symmetricDifference(lines[1]).map { String(decoding: $0.prefix { $0 != ASCII.colon }, as: UTF8.self) }
        )
        .sorted()
        if !fieldNames.isEmpty { aspects.insert(.fields) }
    }
}
