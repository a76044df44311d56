/// Who wants a fetch to go on whose own client has left.
package struct FetchDemand: Equatable, Sendable {
    /// A body that is on its way into the store.
    package struct Body: Equatable, Sendable {
        /// Its length, where the head told it, and how much of it has come, in bytes.
        package let length: UInt64?
        package let receivedCount: UInt64
        /// The store is to keep it.
        package let isKept: Bool
        /// Another fetch brings some of the same bytes.
        package let isOverlapped: Bool
        /// How many read it, besides the client that has left.
        package let readerCount: Int

        package init(length: UInt64?, receivedCount: UInt64, isKept: Bool, isOverlapped: Bool, readerCount: Int) {
            self.length = length
            self.receivedCount = receivedCount
            self.isKept = isKept
            self.isOverlapped = isOverlapped
            self.readerCount = readerCount
        }

        /// Most of it has come, and no other fetch brings the rest (C14).
        private var isWorthFinishing: Bool {
            guard let length else { return false }
            return isKept && !isOverlapped && receivedCount >= length / 5 * 4
        }

        fileprivate func isWanted(forStore: Bool) -> Bool { readerCount > 0 || isWorthFinishing || forStore && isKept }
    }

    /// Other requests wait for the response, or have been told of it.
    package let isAwaited: Bool
    /// The client has the part that it asked for, and the store is to have the whole.
    package let isForStore: Bool
    package let body: Body?

    package init(isAwaited: Bool, isForStore: Bool, body: Body?) {
        self.isAwaited = isAwaited
        self.isForStore = isForStore
        self.body = body
    }

    var isThere: Bool { isAwaited || body?.isWanted(forStore: isForStore) == true }
}
