/// A run of status codes, both ends included: `200-299`, or one code alone.
package struct StatusRange: Equatable, Sendable {
    package let lower: UInt16
    package let upper: UInt16

    /// - Returns: `nil` where the codes are not three digits (100 to 599) or stand in the wrong order.
    package init?(_ lower: UInt16, through upper: UInt16) {
        guard lower >= 100, lower <= upper, upper <= 599 else { return nil }
        self.lower = lower
        self.upper = upper
    }

    package func contains(_ status: Status) -> Bool { status.code >= lower && status.code <= upper }
}

extension StatusRange: CustomStringConvertible {
    package var description: String { lower == upper ? "\(lower)" : "\(lower)-\(upper)" }
}
