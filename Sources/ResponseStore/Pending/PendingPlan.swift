import HTTPCaching
import HTTPMessage

/// A response whose body is about to come.
package struct PendingPlan: Sendable {
    /// The response as it will be stored, with an empty body.
    package var response: StoredResponse
    /// The body's length where the head says it.
    package var length: UInt64?
    /// Where the body is a part of a representation: its place, and the length of the whole (RFC 9110 §14.4).
    package var part: (start: UInt64, whole: UInt64)?
    /// The origin has sent the whole in place of a part: none comes sooner for being asked for.
    package var isInPlaceOfPart: Bool
    /// A body that turns out longer than this reaches its readers and is not kept; `nil`: as the store's own limits say.
    package var keptLength: UInt64?
    /// `ResponseStore.moment` when the fetch began; `nil`: now.
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

    /// Bytes that came before a break are worth keeping only if the rest can be asked for (RFC 9111 §3.3).
    var hasStrongValidator: Bool { response.facts.flags.contains(.strongETag) }

    /// How long the representation is, where that is known.
    package var wholeLength: UInt64? { part?.whole ?? length }
}

/// What the one who appends should do.
package enum FlowControl: Sendable, Equatable {
    case proceed
    /// Read no more from the origin server until `whenReady` answers.
    case pause
}

/// What a reader finds at its place.
package enum PendingRead: Sendable {
    case bytes(BodyChunk, Range<Int>)
    /// The reader has fallen behind what stands in memory: read from the disk by `ResponseStore.readBody`. The reference's length is
    /// what can be read there so far.
    case onDisk(BodyReference)
    /// Nothing yet.
    case wait
    /// The body is complete.
    case end(trailers: Fields)
    /// The body broke off.
    case failed
}

/// How a pending response ended.
package enum PendingOutcome: Sendable {
    /// It can be found by its key.
    case stored(StoredResponse)
    case notStored
}
