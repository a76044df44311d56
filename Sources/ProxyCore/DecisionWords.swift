import HTTPCaching

extension ReuseDecision {
    /// The word in the log, the same as in Cache-Status.
    package var word: StaticString {
        switch self {
        case .fresh(let terms) where terms.isByRecordedChain, .staleAllowed(let terms, _) where terms.isByRecordedChain:
            ReuseTerms.recordedChainWord
        case .fresh: "fresh"
        case .staleAllowed(_, let reason): reason.word
        case .validate(let reason), .forward(let reason): reason.word
        case .notSatisfiable: Self.notSatisfiableWord
        }
    }
}

extension StorageTrace {
    /// The word in the log, the same as in Cache-Status.
    package var word: StaticString {
        switch self {
        case .stored: "stored"
        case .refused(let refusal): refusal.word
        }
    }
}
