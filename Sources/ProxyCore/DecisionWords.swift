import HTTPCaching

extension ReuseDecision {
    /// The word for the decision in the log and in Cache-Status.
    package var word: StaticString {
        switch self {
        case .fresh(let terms) where terms.isByRecordedChain, .staleAllowed(let terms, _) where terms.isByRecordedChain:
            ReuseTerms.recordedChainWord
        case .fresh(let terms):
            terms.isPastObjection ? StaleReason.offline.word : terms.isShared ? ReuseTerms.sharedWord : "fresh"
        case .staleAllowed(_, let reason): reason.word
        case .validate(let reason), .forward(let reason): reason.word
        case .notSatisfiable: Self.notSatisfiableWord
        case .offlineMiss: Self.offlineMissWord
        }
    }
}

extension ReuseDecision {
    /// The fault sent to a client if the request needs the origin, but must not be forwarded; otherwise `nil`.
    var missFault: Fault? {
        switch self {
        case .notSatisfiable(let reason): .onlyIfCachedMiss(detail: StaticToken(reason.word))
        case .offlineMiss(let reason): .offlineMiss(detail: StaticToken(reason.word))
        case .fresh, .staleAllowed, .validate, .forward: nil
        }
    }
}

extension StorageTrace {
    /// The word for the decision in the log and in Cache-Status.
    package var word: StaticString {
        switch self {
        case .stored: "stored"
        case .refused(let refusal): refusal.word
        }
    }
}
