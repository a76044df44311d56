import ServerTrust

/// What replay does after the last response of a sequence.
package enum SequenceEnd: String, Sendable, CaseIterable {
    /// Start again from the first response.
    case loop
    /// Repeat the last response.
    case last
    /// Report a miss.
    case error
}

/// The positions in the sequences of one replay session. A value type: callers that share it among threads must lock it.
package struct SequenceCursors: Sendable {
    /// Identifies a sequence: responses that are delivered one after the other.
    package struct Sequence: Hashable, Sendable {
        /// The index of the sequence's layer.
        let layer: Int
        /// The place of the sequence's first recording, in canonical order.
        private let place: Int
        /// A digest of the numbers of the sequence's groups, if there are several groups.
        private let groups: SHA256Digest?

        init(layer: Int, place: Int, groups: [Int]) {
            self.layer = layer
            self.place = place
            var octets: [UInt8] = []
            if groups.count > 1 { for group in groups { octets.append(bigEndian: UInt64(group)) } }
            self.groups = octets.isEmpty ? nil : SHA256Digest(of: octets)
        }
    }

    /// The maximum number of sequences. When there are more, all sequences start again.
    package static let limit = 1 << 20

    private var given: [Sequence: Int] = [:]

    /// Which recorded set of secrets, by number, answers a request with given secrets. There is an entry for each sequence whose
    /// recordings have different secrets.
    private var assigned: [Sequence: [SHA256Digest: Int]] = [:]

    package init() {}

    /// Assigns a recorded set of secrets to the secrets of a request. Without the project key, secrets cannot be compared, so each
    /// new set takes the next number.
    /// - Parameter count: the number of different recorded sets.
    mutating func number(of secrets: SHA256Digest, in sequence: Sequence, among count: Int) -> Int {
        if assigned.count >= Self.limit, assigned[sequence] == nil { assigned.removeAll() }
        let numbers = assigned[sequence, default: [:]]
        if let number = numbers[secrets] { return number }
        guard numbers.count < count else { return 0 }
        assigned[sequence, default: [:]][secrets] = numbers.count
        return numbers.count
    }

    /// Advances a sequence, and returns how many of its responses have been requested, including this one.
    mutating func next(of sequence: Sequence) -> Int {
        if given.count >= Self.limit, given[sequence] == nil { given.removeAll() }
        let count = given[sequence, default: 0] + 1
        given[sequence] = count
        return count
    }

    /// Restarts all sequences.
    package mutating func rewind() {
        given.removeAll()
        assigned.removeAll()
    }
}
