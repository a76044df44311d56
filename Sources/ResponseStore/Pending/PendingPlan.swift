import HTTPCaching
import HTTPMessage

/// A response whose body is about to arrive.
package struct PendingPlan: Sendable {
    /// The response as it will be stored, with an empty body.
    package var response: StoredResponse
    /// The body's length, if the head declares it.
    package var length: UInt64?
    /// For a part of a representation: its offset, and the complete length (RFC 9110 §14.4).
    package var part: (start: UInt64, whole: UInt64)?
    /// Whether the origin sent the complete response although a part was requested. Then requesting a part would not be faster.
    package var isInPlaceOfPart: Bool
    /// A longer body is delivered to its readers but not kept; `nil` means the store's own limits.
    package var keptLength: UInt64?
    /// `ResponseStore.moment` when the fetch began; `nil` means now.
    package var since: StoreEpoch?

    package init(
        response: StoredResponse, length: UInt64?, keptLength: UInt64? = nil, part: (start: UInt64, whole: UInt64)? = nil,
        isInPlaceOfPart: Bool = false, since: StoreEpoch? = nil
    ) {
        self.response = response
        self.length = length
        self.part = part
        self.isInPlaceOfPart = isInPlaceOfPart
        self.keptLength = keptLength
        self.since = since
    }

    /// Bytes received before an interruption are worth keeping only if the rest can be requested (RFC 9111 §3.3).
    var hasStrongValidator: Bool { response.facts.flags.contains(.strongETag) }

    /// The length of the complete representation, if known.
    package var wholeLength: UInt64? { part?.whole ?? length }
}

/// What the caller of `append` should do.
package enum FlowControl: Sendable, Equatable {
    case proceed
    /// Stop reading from the origin server until `whenReady` calls back.
    case pause
}

/// The result of a read at a position.
package enum PendingRead: Sendable {
    case bytes(BodyChunk, Range<Int>)
    /// The reader has fallen behind the data in memory: read from disk with `ResponseStore.readBody`. The reference's length is how
    /// much can be read there so far.
    case onDisk(BodyReference)
    /// No data yet.
    case wait
    /// The body is complete.
    case end(trailers: Fields)
    /// The body was interrupted.
    case failed
}

/// How a pending response ended.
package enum PendingOutcome: Sendable {
    /// The response can be found by its key.
    case stored(StoredResponse)
    case notStored
}
