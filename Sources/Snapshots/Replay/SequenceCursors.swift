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

/// The positions in the sequences of one replay session. A value type: if several threads use one value, they must lock it.
package struct SequenceCursors: Sendable {
    /// Identifies a sequence of responses that are delivered one after the other.
    package struct Sequence: Hashable, Sendable {
        /// The index of the snapshot that has the sequence, among the replay sources.
        let layer: Int
        /// The place of the sequence's first recording, in canonical order.
        private let place: Int
        /// A digest of the indexes of the sequence's groups, if there are several groups.
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

    /// Only for sequences whose recordings have different secrets. For each set of secrets in requests, this gives the number of the
    /// recorded set of secrets to use.
    private var assigned: [Sequence: [SHA256Digest: Int]] = [:]

    package init() {}

    /// Assigns a recorded set of secrets to the secrets of a request. Without the project key, secrets cannot be compared, so a request
    /// with new secrets gets the next recorded set.
    /// - Parameter count: the number of different recorded sets of secrets.
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
