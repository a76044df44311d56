import HTTPCaching
import HTTPMessage

/// Where the content of a response goes that is to be stored.
package enum StoragePlan: Equatable, Sendable {
    /// To the client, and into memory; it is stored as one piece when it is complete.
    /// - Parameter length: in bytes, where the head tells it.
    case gather(length: Int?)
    /// Into the store, from which the client reads.
    case stream(length: UInt64?)
    /// As `stream`; the content is a part of a representation.
    case streamPart(RangeState.Part, length: UInt64)

    /// - Parameters:
    ///   - cutsPart: The client gets a part of the content.
    ///   - gatheredLength: Up to this length content is gathered.
    init(body: BodyLength, part: RangeState.Part?, cutsPart: Bool, gatheredLength: Int) {
        switch (body, part) {
        case (.known(let length), let part?): self = .streamPart(part, length: length)
        case (.known(let length), nil) where cutsPart || length > UInt64(gatheredLength): self = .stream(length: length)
        case (.known(let length), nil): self = .gather(length: Int(length))
        // A part without a length is not stored (`Exchange.decidePartStorage`).
        case (.unknown, _), (.none, _): self = .gather(length: nil)
        }
    }

    /// What happens next with content that is to be streamed.
    package enum Admission: Equatable, Sendable {
        /// It is offered to the store.
        case offer
        /// It goes to the client alone. The exchange has said why before.
        case passOn
        case reject(StorageRejection)
    }

    /// - Parameters:
    ///   - isInvalidated: The key was invalidated or purged after the request had been sent.
    ///   - isStorable: There is a response to be stored.
    ///   - greatestLength: The store takes no longer body of it, in bytes.
    package func admission(isInvalidated: Bool, isStorable: Bool, greatestLength: UInt64) -> Admission {
        switch self {
        case .gather: return .offer
        case .stream(let length):
            // A large body is shared through the store alone: those that wait ask anew, together.
            if isInvalidated { return .reject(StorageRejection(.invalidated, joined: .askAnew)) }
            if !isStorable { return .passOn }
            if let length, length > greatestLength { return .reject(.tooLarge) }
        case .streamPart(let part, _):
            if isInvalidated || !isStorable { return .reject(rejectionByStore) }
            if part.whole > greatestLength { return .reject(StorageRejection(.bodyTooLarge, joined: .wait)) }
        }
        return .offer
    }

    /// The store takes no further body now; it counts that itself.
    package var rejectionByStore: StorageRejection {
        switch self {
        case .gather, .stream: StorageRejection(.storeBusy, isCounted: true, joined: .fetchThemselves)
        case .streamPart: StorageRejection(.partialContent, isCounted: true, joined: .wait)
        }
    }
}

/// Why a response is not stored that was to be, and what follows from that.
package struct StorageRejection: Equatable, Sendable {
    /// What the requests do that have joined the fetch.
    package enum Joined: Equatable, Sendable {
        /// They wait until the fetch ends.
        case wait
        /// One of them fetches for all.
        case askAnew
        case fetchThemselves
        /// They get the response.
        case useResponse
    }

    package let reason: StorageRefusal
    /// The store has counted it.
    package let isCounted: Bool
    package let joined: Joined

    init(_ reason: StorageRefusal, isCounted: Bool = false, joined: Joined) {
        self.reason = reason
        self.isCounted = isCounted
        self.joined = joined
    }

    /// The stored responses go that this one would have replaced.
    package var removesReplaced: Bool { reason == .bodyTooLarge }

    static let tooLarge = StorageRejection(.bodyTooLarge, joined: .fetchThemselves)
    /// The store has found while it received the body that it is too long. Its readers get the rest.
    package static let tooLargeForStore = StorageRejection(.bodyTooLarge, isCounted: true, joined: .wait)
    /// The key was invalidated while the body was received: the response is for those alone that asked before.
    package static let invalidated = StorageRejection(.invalidated, joined: .useResponse)
    /// The store has found the same.
    package static let invalidatedInStore = StorageRejection(.invalidated, isCounted: true, joined: .useResponse)
    /// The store does not take the complete response.
    package static let busy = StorageRejection(.storeBusy, isCounted: true, joined: .wait)
}
