import EventLoop
import HTTPCaching
import HTTPMessage

/// A store of responses that several machines share. This module knows no engine: the module SharedTier implements the protocol.
///
/// Usable from any thread. No call blocks. A store that is slow, full or unreachable answers as if it had nothing.
package protocol SharedResponses: AnyObject, Sendable {
    /// Looks for a response. The reply comes after a bounded time, whatever the state of the engine is.
    func find(_ lookUp: SharedLookUp, reply: Reply<SharedAnswer>)

    /// Stores a response for the other machines, if they may have it. It may be dropped.
    func offer(_ response: StoredResponse, under lease: SharedLease)

    /// Removes the responses of these keys, because an unsafe request has invalidated them (RFC 9111 §4.4).
    func invalidate(_ keys: [[UInt8]])
}

/// A request for which no fresh response is in the local store.
package struct SharedLookUp: Sendable {
    package let key: [UInt8]
    /// The request, whose fields select a variant.
    package let request: RequestHead
    package let secondaryKey: SecondaryKey
    /// The local store's epoch before the look-up.
    package let since: StoreEpoch

    package init(key: [UInt8], request: RequestHead, secondaryKey: SecondaryKey, since: StoreEpoch) {
        self.key = key
        self.request = request
        self.secondaryKey = secondaryKey
        self.since = since
    }
}

/// The reply of a shared store.
package enum SharedAnswer: Sendable {
    /// A response that matches the request. Whether it may be used is for the caller to decide, as for its own stored responses.
    /// - Parameter lease: set if the response was not fresh, and no other machine fetches a new one.
    case found(StoredResponse, SharedLease?)
    /// Nothing is stored, and no other machine fetches it: the caller fetches for all machines.
    case leads(SharedLease)
    /// Nothing is stored: the caller fetches for itself, and does not share what it gets.
    case absent
}

/// The right to fetch a response for all machines. It ends when the response is offered, or when the lease is released.
package final class SharedLease: Sendable {
    package let key: [UInt8]
    /// Grows with each lease and each invalidation of the key, so that the engine refuses a response that was overtaken.
    package let fence: [UInt8]
    /// Distinguishes this lease from those of other machines.
    package let token: [UInt8]
    /// The generation of the farm when the fetch began: later purges cover the response.
    package let generation: Int64
    /// Whether the response is to be stored.
    package let isForStore: Bool
    private let end: @Sendable (_ key: [UInt8], _ token: [UInt8]) -> Void

    /// - Parameter end: called once, when the last user of the lease has released it.
    package init(
        key: [UInt8], fence: [UInt8], token: [UInt8], generation: Int64, isForStore: Bool,
        end: @escaping @Sendable ([UInt8], [UInt8]) -> Void
    ) {
        self.key = key
        self.fence = fence
        self.token = token
        self.generation = generation
        self.isForStore = isForStore
        self.end = end
    }

    deinit { end(key, token) }
}
