import ServerTrust

/// What comes behind the last answer of a sequence.
package enum SequenceEnd: String, Sendable, CaseIterable {
    /// The first one again.
    case loop
    /// The last one again.
    case last
    /// Nothing: it is a miss.
    case error
}

/// How far the sequences of one replay session have come. A value: whoever shares it among threads locks it.
package struct SequenceCursors: Sendable {
    /// Which answers are given one after the other.
    package struct Sequence: Hashable, Sendable {
        /// The place of the file among the layers.
        let layer: Int
        /// Of its first recording.
        private let place: Int
        /// Of the numbers of its groups, where it has several.
        private let groups: SHA256Digest?

        init(layer: Int, place: Int, groups: [Int]) {
            self.layer = layer
            self.place = place
            var octets: [UInt8] = []
            if groups.count > 1 { for group in groups { octets.append(bigEndian: UInt64(group)) } }
            self.groups = octets.isEmpty ? nil : SHA256Digest(of: octets)
        }
    }

    /// More sequences than these are not told apart any more: all begin anew.
    package static let limit = 1 << 20

    private var given: [Sequence: Int] = [:]

    /// By what recordings of different secrets have in common: which of them answers requests with these secrets.
    private var assigned: [Sequence: [SHA256Digest: Int]] = [:]

    package init() {}

    /// Without the project's key nothing tells which secret of a request is which of those recorded: each that has not been seen before stands for the
    /// next one.
    /// - Parameter count: how many different ones were recorded.
    mutating func number(of secrets: SHA256Digest, in sequence: Sequence, among count: Int) -> Int {
        if assigned.count >= Self.limit, assigned[sequence] == nil { assigned.removeAll() }
        let numbers = assigned[sequence, default: [:]]
        if let number = numbers[secrets] { return number }
        guard numbers.count < count else { return 0 }
        assigned[sequence, default: [:]][secrets] = numbers.count
        return numbers.count
    }

    /// How many answers of a sequence have been asked for, with this one; counted on.
    mutating func next(of sequence: Sequence) -> Int {
        if given.count >= Self.limit, given[sequence] == nil { given.removeAll() }
        let count = given[sequence, default: 0] + 1
        given[sequence] = count
        return count
    }

    /// All sequences begin anew.
    package mutating func rewind() {
        given.removeAll()
        assigned.removeAll()
    }
}
