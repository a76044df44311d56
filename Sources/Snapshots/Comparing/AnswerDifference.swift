import HTTPMessage

/// How two responses to the same request differ. Values of volatile fields (`ContentForm.volatileFields`) are not compared.
struct AnswerDifference {
    var aspects: SnapshotDiff.Aspects = []
    /// The names of fields whose lines differ: in lower case, sorted.
    var fieldNames: [String] = []

    init(from old: Recording, to new: Recording) {
        if old.response?.status != new.response?.status { aspects.insert(.status) }
        if old.failure?.kind != new.failure?.kind { aspects.insert(.failure) }
        if old.response?.body?.digest != new.response?.body?.digest { aspects.insert(.body) }
        // Each part is compared separately: the same line is a difference if one response has it in the head, and the other in a
        // trailer or a 103.
        var names: Set<String> = []
        for (before, after) in Self.parts(old, new) {
            let lines = [before, after].map { Set(ContentForm.lines(of: $0)) }
            names.formUnion(
                lines[0].symmetricDifference(lines[1]).map { String(decoding: $0.prefix { $0 != ASCII.colon }, as: UTF8.self) })
        }
        fieldNames = names.sorted()
        if !fieldNames.isEmpty { aspects.insert(.fields) }
    }

    /// Pairs each field part of one response with the same part of the other response. If only one response has a part, the part is
    /// paired with an empty one.
    static func parts(_ old: Recording, _ new: Recording) -> [(old: Fields, new: Fields)] {
        let (before, after) = (old.response?.fieldParts ?? [], new.response?.fieldParts ?? [])
        return (0..<max(before.count, after.count)).map { index in
            (index < before.count ? before[index] : Fields(), index < after.count ? after[index] : Fields())
        }
    }
}
