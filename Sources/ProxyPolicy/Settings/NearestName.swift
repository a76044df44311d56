/// Finds the valid name that a misspelled name was probably meant to be.
package enum NearestName {
    /// - Returns: the name with the fewest edits; of several such names, the first. An edit is a letter inserted, deleted or changed,
    ///   or two letters swapped; differences in case, `-` and `_` are ignored. `nil` if the number of edits is more than a third of the
    ///   number of letters.
    package static func of(_ text: String, among names: some Sequence<String>) -> String? {
        let written = folded(text)
        // Longer words are ignored, so that a hostile or damaged file cannot cause much work.
        guard !written.isEmpty, written.count <= longestWord else { return nil }
        var best: (name: String, distance: Int)?
        for name in names {
            let candidate = folded(name)
            let allowed = max(1, max(candidate.count, written.count) / 3)
            let distance = editDistance(written, candidate)
            if distance <= allowed, distance < best?.distance ?? .max { best = (name, distance) }
        }
        return best?.name
    }

    /// Optimal string alignment: the Levenshtein distance, except that a swap of adjacent letters counts as one edit.
    static func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                let change = left[row] == right[column] ? 0 : 1
                var cost = min(last[column + 1] + 1, current[column] + 1, last[column] + change)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }

    private static let longestWord = 64

    private static func folded(_ text: String) -> [UInt8] {
        text.lowercased().utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
    }
}
