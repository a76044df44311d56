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
        // A line in the head is another than the same line in a trailer or in a 103.
        var names: Set<String> = []
        for (before, after) in Self.parts(old, new) {
            let lines = [before, after].map { Set(ContentForm.lines(of: $0)) }
            names.formUnion(
                lines[0].symmetricDifference(lines[1]).map { String(decoding: $0.prefix { $0 != ASCII.colon }, as: UTF8.self) })
        }
        fieldNames = names.sorted()
        if !fieldNames.isEmpty { aspects.insert(.fields) }
    }

    /// The parts of both that have fields, each beside the same part of the other. A part that one of them has not is empty.
    static func parts(_ old: Recording, _ new: Recording) -> [(old: Fields, new: Fields)] {
        let (before, after) = (old.response?.fieldParts ?? [], new.response?.fieldParts ?? [])
        return (0..<max(before.count, after.count)).map { index in
            (index < before.count ? before[index] : Fields(), index < after.count ? after[index] : Fields())
        }
    }
}
