/// Whether a fetch should continue after its own client has left.
package struct FetchDemand: Equatable, Sendable {
    /// A body that is being stored.
    package struct Body: Equatable, Sendable {
        /// The body's length, if the head gave one, and the number of bytes received.
        package let length: UInt64?
        package let receivedCount: UInt64
        /// Whether the store keeps the body.
        package let isKept: Bool
        /// Whether another fetch also receives some of these bytes.
        package let isOverlapped: Bool
        /// The number of readers besides the client that has left.
        package let readerCount: Int

        package init(length: UInt64?, receivedCount: UInt64, isKept: Bool, isOverlapped: Bool, readerCount: Int) {
            self.length = length
            self.receivedCount = receivedCount
            self.isKept = isKept
            self.isOverlapped = isOverlapped
            self.readerCount = readerCount
        }

        /// Whether at least four fifths of the body have been received, and no other fetch receives the rest (C14).
        private var isWorthFinishing: Bool {
            guard let length else { return false }
            return isKept && !isOverlapped && receivedCount >= length / 5 * 4
        }

        fileprivate func isWanted(forStore: Bool) -> Bool { readerCount > 0 || isWorthFinishing || forStore && isKept }
    }

    /// Whether other requests wait for the response, or have been notified of it and have not joined it yet.
    package let isAwaited: Bool
    /// Whether the client has already received its part, so that the rest is only for the store.
    package let isForStore: Bool
    package let body: Body?

    package init(isAwaited: Bool, isForStore: Bool, body: Body?) {
        self.isAwaited = isAwaited
        self.isForStore = isForStore
        self.body = body
    }

    var isThere: Bool { isAwaited || body?.isWanted(forStore: isForStore) == true }
}
