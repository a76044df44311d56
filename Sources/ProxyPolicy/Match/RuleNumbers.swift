/// A set of rule numbers with reused storage: inserted in any order, iterated in the order of the list.
package struct RuleNumbers: Sendable {
    private var words: [UInt64] = []
    private(set) var isEmpty = true

    package init() {}

    init(count: Int) { words = Array(repeating: 0, count: (count + 63) / 64) }

    mutating func insert(_ number: Int) {
        words[number / 64] |= 1 << UInt64(number % 64)
        isEmpty = false
    }

    /// Copies `other`, without allocating if the set has been as large before.
    mutating func replace(with other: RuleNumbers) {
        if words.count == other.words.count {
            for index in 0..<words.count { words[index] = other.words[index] }
        } else {
            words.removeAll(keepingCapacity: true)
            words.append(contentsOf: other.words)
        }
        isEmpty = other.isEmpty
    }

    func contains(_ number: Int) -> Bool { words[number / 64] & 1 << UInt64(number % 64) != 0 }

    /// The first number at or after `start`, or `nil`.
    func next(from start: Int) -> Int? {
        var index = start / 64
        guard index < words.count else { return nil }
        var word = words[index] & (UInt64.max << UInt64(start % 64))
        while word == 0 {
            index += 1
            guard index < words.count else { return nil }
            word = words[index]
        }
        return index * 64 + word.trailingZeroBitCount
    }
}
