import HTTPCaching
import HTTPMessage

/// The destination of the content of a response that is to be stored.
package enum StoragePlan: Equatable, Sendable {
    /// The content goes to the client and into memory, and is stored in one piece when it is complete.
    /// - Parameter length: in bytes, if the head gives it.
    case gather(length: Int?)
    /// The content goes into the store, from which the client reads it.
    case stream(length: UInt64?)
    /// Like `stream`, but the content is a part of a representation.
    case streamPart(RangeState.Part, length: UInt64)

    /// - Parameters:
    ///   - cutsPart: The client gets a part of the content.
    ///   - gatheredLength: The maximum length of content that is gathered, in bytes.
    init(body: BodyLength, part: RangeState.Part?, cutsPart: Bool, gatheredLength: Int) {
        switch (body, part) {
        case (.known(let length), let part?): self = .streamPart(part, length: length)
        case (.known(let length), nil) where cutsPart || length > UInt64(gatheredLength): self = .stream(length: length)
        case (.known(let length), nil): self = .gather(length: Int(length))
        // A part without a length is not stored (`Exchange.decidePartStorage`).
        case (.unknown, _), (.none, _): self = .gather(length: nil)
        }
    }

    /// How content that was to be streamed is handled.
    package enum Admission: Equatable, Sendable {
        /// The content is offered to the store.
        case offer
        /// The content goes only to the client. The exchange has already recorded the reason.
        case passOn
        case reject(StorageRejection)
    }

    /// - Parameters:
    ///   - isInvalidated: The key was invalidated or purged after the request had been sent.
    ///   - isStorable: There is a response to be stored.
    ///   - greatestLength: The maximum length that the store accepts for it, in bytes.
    package func admission(isInvalidated: Bool, isStorable: Bool, greatestLength: UInt64) -> Admission {
        switch self {
        case .gather: return .offer
        case .stream(let length):
            // A large body is shared only through the store. If the key was invalidated, the waiting requests fetch again, with one new
            // fetch for all of them.
            if isInvalidated { return .reject(StorageRejection(.invalidated, joined: .askAnew)) }
            if !isStorable { return .passOn }
            if let length, length > greatestLength { return .reject(.tooLarge) }
        case .streamPart(let part, _):
            if isInvalidated || !isStorable { return .reject(rejectionByStore) }
            if part.whole > greatestLength { return .reject(StorageRejection(.bodyTooLarge, joined: .wait)) }
        }
        return .offer
    }

    /// The rejection if the store accepts no further body now. The store itself counts it.
    package var rejectionByStore: StorageRejection {
        switch self {
        case .gather, .stream: StorageRejection(.storeBusy, isCounted: true, joined: .fetchThemselves)
        case .streamPart: StorageRejection(.partialContent, isCounted: true, joined: .wait)
        }
    }
}

/// Why a response is not stored although storing it was planned, and what follows from that.
package struct StorageRejection: Equatable, Sendable {
    /// How the requests that joined the fetch continue.
    package enum Joined: Equatable, Sendable {
        /// The requests wait until the fetch ends.
        case wait
        /// One of the requests fetches for all of them.
        case askAnew
        case fetchThemselves
        /// The requests get the response.
        case useResponse
    }

    package let reason: StorageRefusal
    /// Whether the store has counted the rejection.
    package let isCounted: Bool
    package let joined: Joined

    init(_ reason: StorageRefusal, isCounted: Bool = false, joined: Joined) {
        self.reason = reason
        self.isCounted = isCounted
        self.joined = joined
    }

    /// Whether to remove the stored responses that this response would have replaced.
    package var removesReplaced: Bool { reason == .bodyTooLarge }

    static let tooLarge = StorageRejection(.bodyTooLarge, joined: .fetchThemselves)
    /// While receiving the body, the store found that it is too long. Readers of the body get the rest of it.
    package static let tooLargeForStore = StorageRejection(.bodyTooLarge, isCounted: true, joined: .wait)
    /// The key was invalidated while the body was received: the response is only for requests that came before.
    package static let invalidated = StorageRejection(.invalidated, joined: .useResponse)
    /// As for `invalidated`, but the store has found it.
    package static let invalidatedInStore = StorageRejection(.invalidated, isCounted: true, joined: .useResponse)
    /// The store does not accept the complete response.
    package static let busy = StorageRejection(.storeBusy, isCounted: true, joined: .wait)
}
