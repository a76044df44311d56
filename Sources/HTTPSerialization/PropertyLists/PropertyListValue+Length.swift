extension PropertyListValue {
    /// Whether the value's JSON text, not counting escapes, has at most this length in bytes. The value shares objects that are
    /// referenced several times; its text repeats them.
    func jsonLengthIsAtMost(_ limit: UInt64) -> Bool {
        var left = Int64(clamping: limit)
        take(from: &left)
        return left >= 0
    }

    private func take(from left: inout Int64) {
        if left < 0 { return }
        switch self {
        case .string(let string): left -= Int64(string.utf8.count) + 2
        case .data(let data): left -= Int64(data.count) / 3 * 4 + 2
        case .integer, .real, .bool, .uid: left -= 1
        case .date: left -= 22
        case .array(let elements):
            left -= 2
            for element in elements where left >= 0 { element.take(from: &left) }
        case .dictionary(let dictionary):
            left -= 2
            for member in dictionary.members where left >= 0 {
                left -= Int64(member.key.utf8.count) + 3
                member.value.take(from: &left)
            }
        }
    }
}
