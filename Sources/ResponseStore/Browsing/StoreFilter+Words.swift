import HTTPCaching
import HTTPMessage

/// A filter as pairs of names and texts: for the options of `larder cache`, query parameters on the admin socket, and purges in the
/// file.
extension StoreFilter {
    package enum Word: String, CaseIterable, Sendable {
        case url, host, status, type
        case olderThan = "older-than"
        case youngerThan = "younger-than"
        case freshness, tag
        case largerThan = "larger-than"
        case smallerThan = "smaller-than"
    }

    /// Sets one condition.
    /// - Returns: `false` if the text is invalid for it.
    package mutating func set(_ word: Word, to text: String) -> Bool {
        switch word {
        case .url:
            url = URLPattern(text)
            return url != nil
        case .host:
            host = text
            return !text.isEmpty && text.utf8.count <= 512 && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        case .status:
            let ranges = text.split(separator: ",", omittingEmptySubsequences: false).map(StoreFilter.statusRange)
            status = ranges.compactMap { $0 }
            return status.count == ranges.count
        case .type:
            type = MediaTypePattern(text)
            return type != nil
        case .olderThan:
            olderThan = StoreFilter.seconds(text)
            return olderThan != nil
        case .youngerThan:
            youngerThan = StoreFilter.seconds(text)
            return youngerThan != nil
        case .freshness:
            freshness = Freshness(rawValue: text)
            return freshness != nil
        case .tag:
            tags.append(text)
            return !text.isEmpty && text.utf8.count <= 512 && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        case .largerThan:
            largerThan = UInt64(text)
            return largerThan != nil
        case .smallerThan:
            smallerThan = UInt64(text)
            return smallerThan != nil
        }
    }

    /// The conditions of this filter as pairs of names and texts. A filter with the same pairs is equal to this one.
    package var words: [(word: Word, text: String)] {
        var words: [(word: Word, text: String)] = []
        if let url { words.append((.url, url.text)) }
        if let host { words.append((.host, host)) }
        if !status.isEmpty { words.append((.status, status.map(\.description).joined(separator: ","))) }
        if let type { words.append((.type, type.description)) }
        if let olderThan { words.append((.olderThan, "\(olderThan.seconds)")) }
        if let youngerThan { words.append((.youngerThan, "\(youngerThan.seconds)")) }
        if let freshness { words.append((.freshness, freshness.rawValue)) }
        words += tags.map { (.tag, $0) }
        if let largerThan { words.append((.largerThan, "\(largerThan)")) }
        if let smallerThan { words.append((.smallerThan, "\(smallerThan)")) }
        return words
    }

    /// One line per condition, as stored with a purge. No text contains a line break.
    package var encoded: [UInt8] { Array(words.map { "\($0.word.rawValue) \($0.text)\n" }.joined().utf8) }

    package init?(encoded: [UInt8]) {
        self.init()
        for line in String(decoding: encoded, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let word = Word(rawValue: String(parts[0])), set(word, to: String(parts[1])) else {
                return nil
            }
        }
    }

    /// Parses `404`, `200-299` or `2xx`.
    private static func statusRange(_ text: Substring) -> StatusRange? {
        if text.utf8.count == 3, text.hasSuffix("xx"), let hundreds = UInt16(text.prefix(1)) {
            return StatusRange(hundreds * 100, through: hundreds * 100 + 99)
        }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let ends = parts.compactMap { UInt16($0) }
        guard let lower = ends.first, let upper = ends.last, ends.count == parts.count, ends.count <= 2 else { return nil }
        return StatusRange(lower, through: upper)
    }

    private static func seconds(_ text: String) -> DeltaSeconds? { Int64(text).flatMap { $0 < 0 ? nil : DeltaSeconds($0) } }
}
