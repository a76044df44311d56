import HTTPCaching

/// A body, or a part of a body, that the origin is sending for another request and that is being stored. Requests for its bytes read them
/// from the store, so the origin sends them only once.
package struct BodyUnderWay: Sendable {
    /// The complete response as it will be stored, without its body.
    package let response: StoredResponse
    /// Identifies the body for the driver.
    package let row: StoredRowID
    /// The range of the representation that the origin sends.
    package let range: Range<UInt64>
    package let wholeLength: UInt64
    /// The position up to which the body has arrived.
    package let reached: UInt64
    /// Whether the origin ignored Range and sends the complete body. If so, a separate request would not bring later bytes any sooner.
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

    /// Whether the body brings the missing bytes of the same representation as the stored part.
    func completes(_ completion: RangeCompletion, within distance: UInt64) -> Bool {
        wholeLength == completion.partial.wholeLength && response.isOfSameRepresentation(as: completion.partial.response)
            && brings(completion.missing, within: distance)
    }

    /// Whether the body contains all these bytes, and the first of them will arrive soon. For bytes that are far from the current position,
    /// a separate request is usually faster.
    func brings(_ wanted: Range<UInt64>, within distance: UInt64) -> Bool {
        guard range.lowerBound <= wanted.lowerBound, wanted.upperBound <= range.upperBound else { return false }
        return isInPlaceOfPart || wanted.lowerBound <= reached || wanted.lowerBound - reached <= distance
    }
}
