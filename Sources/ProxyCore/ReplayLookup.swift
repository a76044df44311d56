import HTTPCaching

/// The result of looking up recordings, other than a complete response.
package enum ReplayLookup: Sendable {
    /// The recorded response was cut off, and is cut off again at the same place.
    /// - Parameter length: the length that its head gave.
    case broken(StoredResponse, length: BodyLength, by: Fault, layer: UInt8)
    /// The recorded exchange failed, and fails again.
    case failed(Fault, layer: UInt8)
    /// No recording matches.
    /// - Parameters:
    ///   - reason: why the look-up found no match.
    ///   - nearest: the near misses; `nil` if they were not searched for.
    case missed(reason: StaticToken, nearest: NearMissReport?)
    case damaged

    /// The near misses; `nil` if they were not searched for.
    var nearest: NearMissReport? { if case .missed(_, let nearest) = self { nearest } else { nil } }

    /// A command that searches for near misses; empty if the near misses were already reported.
    var comparisonHint: String {
        if case .missed(_, nil) = self { "larder explain --replay shows the nearest recordings" } else { "" }
    }
}

/// The recordings that are nearest to a request, as text.
package struct NearMissReport: Sendable {
    /// A JSON array of the recordings, the nearest first.
    package let json: [UInt8]
    /// The recordings as text for users, one line for each.
    package let lines: [String]
    /// The text for the log: the nearest recording and its differences, without values or queries.
    package let summary: [UInt8]

    package init(json: [UInt8], lines: [String], summary: [UInt8]) {
        self.json = json
        self.lines = lines
        self.summary = summary
    }
}
