/// A range of status codes, both ends included: `200-299`, or a single code.
package struct StatusRange: Equatable, Sendable {
    package let lower: UInt16
    package let upper: UInt16

    /// - Returns: `nil` if a status code is not from 100 to 599, or if the first code is greater than the last.
    package init?(_ lower: UInt16, through upper: UInt16) {
        guard lower >= 100, lower <= upper, upper <= 599 else { return nil }
        self.lower = lower
        self.upper = upper
    }

    /// Parses a single code such as `404`, or a range such as `500-599`.
    package init?(parsing text: String) {
        let codes = text.split(separator: "-", omittingEmptySubsequences: false).map { part in
            part.utf8.count == 3 && part.utf8.allSatisfy(ASCII.isDigit) ? UInt16(part) : nil
        }
        guard codes.count <= 2, let first = codes.first ?? nil, let last = codes.last ?? nil else { return nil }
        self.init(first, through: last)
    }

    package func contains(_ status: Status) -> Bool { status.code >= lower && status.code <= upper }
}

extension StatusRange: CustomStringConvertible {
    package var description: String { lower == upper ? "\(lower)" : "\(lower)-\(upper)" }
}
