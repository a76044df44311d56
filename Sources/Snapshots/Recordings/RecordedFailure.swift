/// How an exchange failed while it was recorded. Replay reproduces the failure or reports a miss, as configured.
package struct RecordedFailure: Equatable, Sendable {
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// The response was truncated. The part that arrived is kept.
        case cutShort = 1
        /// No connection was made, or the server was not trusted.
        case refused = 2
        /// No response arrived in time.
        case timedOut = 3
        /// The response was malformed.
        case malformed = 4

        /// The name of this kind of failure in recording texts and HAR files.
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
    /// The code of the error, as in the access log, in ASCII.
    package let code: String

    package init(_ kind: Kind, code: String) {
        self.kind = kind
        self.code = code
    }
}
