import HTTPCaching

/// What recordings have for a request, other than the answer.
package enum ReplayLookup: Sendable {
    /// The answer's content broke off when it was recorded, and breaks off again, where it did.
    /// - Parameter length: what its head has said of it.
    case broken(StoredResponse, length: BodyLength, by: Fault, layer: UInt8)
    /// The exchange failed when it was recorded, and fails again.
    case failed(Fault, layer: UInt8)
    /// None of them is the answer.
    /// - Parameters:
    ///   - reason: a word of those who looked.
    ///   - nearest: what comes near to it; `nil` where that has not been looked for.
    case missed(reason: StaticToken, nearest: NearMissReport?)
    case damaged

    /// What comes near to the request, where it was looked for.
    var nearest: NearMissReport? { if case .missed(_, let nearest) = self { nearest } else { nil } }

    /// Where nothing near was found, the command that searches further.
    var comparisonHint: String {
        if case .missed(_, nil) = self { "larder explain --replay shows the nearest recordings" } else { "" }
    }
}

/// What was recorded that comes near to a request, ready to be told.
package struct NearMissReport: Sendable {
    /// A JSON array, the nearest first.
    package let json: [UInt8]
    /// The same for people: one for each.
    package let lines: [String]
    /// For the log: the nearest, and in what it differs, without a value or a query.
    package let summary: [UInt8]

    package init(json: [UInt8], lines: [String], summary: [UInt8]) {
        self.json = json
        self.lines = lines
        self.summary = summary
    }
}
