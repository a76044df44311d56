import HTTPCaching

/// A body that another request has the origin send and the store take in, whole or a part: who asks for bytes of it reads them
/// there, so that the origin sends them once.
package struct BodyUnderWay: Sendable {
    /// The response as it will be stored, that of the whole; its body is not at hand.
    package let response: StoredResponse
    /// Names the body for the driver.
    package let row: StoredRowID
    /// The bytes of the representation that it brings.
    package let range: Range<UInt64>
    package let wholeLength: UInt64
    /// Up to here they have come.
    package let reached: UInt64
    /// The origin passes ranges over: what is far ahead comes no sooner when it is asked for.
    package let isInPlaceOfPart: Bool

    package init(
        response: StoredResponse, row: StoredRowID, range: Range<UInt64>, wholeLength: UInt64, reached: UInt64,
        isInPlaceOfPart: Bool = false
    ) {
        self.isInPlaceOfPart = isInPlaceOfPart
        self.response = response
        self.row = row
        self.range = range
        self.wholeLength = wholeLength
        self.reached = reached
    }

    /// Whether it brings what is missing beside the same representation's stored bytes.
    func completes(_ completion: RangeCompletion, within distance: UInt64) -> Bool {
        wholeLength == completion.partial.wholeLength && response.isOfSameRepresentation(as: completion.partial.response)
            && brings(completion.missing, within: distance)
    }

    /// Whether it brings all of these, and the first of them before long: what is far ahead comes sooner when it is asked for, as a rule.
    func brings(_ wanted: Range<UInt64>, within distance: UInt64) -> Bool {
        guard range.lowerBound <= wanted.lowerBound, wanted.upperBound <= range.upperBound else { return false }
        return isInPlaceOfPart || wanted.lowerBound <= reached || wanted.lowerBound - reached <= distance
    }
}
