/// How an exchange failed while it was recorded. Replay gives the same failure, or a miss, as is set.
package struct RecordedFailure: Equatable, Sendable {
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// The response ended before its end: what came of it is kept.
        case cutShort = 1
        /// No connection, or none that is trusted.
        case refused = 2
        /// Nothing came in time.
        case timedOut = 3
        /// What came was no response.
        case malformed = 4

        /// As it stands in texts.
        package var word: String {
            switch self {
            case .cutShort: "cut_short"
            case .refused: "refused"
            case .timedOut: "timed_out"
            case .malformed: "malformed"
            }
        }

        package init?(word: String) {
            guard let kind = Self.allCases.first(where: { $0.word == word }) else { return nil }
            self = kind
        }
    }

    package let kind: Kind
    /// The fault's code as the access log has it, in ASCII.
    package let code: String

    package init(_ kind: Kind, code: String) {
        self.kind = kind
        self.code = code
    }
}
