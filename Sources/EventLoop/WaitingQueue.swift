/// A first-in, first-out queue that reuses its storage.
package struct WaitingQueue<Element> {
    /// The queue is the part of this array that begins at the index `next`. Elements before it were removed, and are `nil`.
    private var elements: [Element?] = []
    private var next = 0

    /// The maximum capacity that an empty queue keeps.
    private static var keptPlaces: Int { 1024 }

    package init() {}

    package var isEmpty: Bool { next == elements.count }
    package var count: Int { elements.count - next }
    package var first: Element? { isEmpty ? nil : elements[next] }

    package mutating func append(_ element: Element) { elements.append(element) }

    package mutating func popFirst() -> Element? {
        if isEmpty { return nil }
        let first = elements[next].take()
        next += 1
        if isEmpty {
            elements.removeAll(keepingCapacity: next <= Self.keptPlaces)
            next = 0
        } else if next > Self.keptPlaces, next * 2 > elements.count {
            elements.removeFirst(next)
            next = 0
        }
        return first
    }

    /// Removes the elements for which `hasLeft` returns true.
    package mutating func removeAll(where hasLeft: (Element) -> Bool) {
        elements = elements[next...].filter { $0.map(hasLeft) == false }
        next = 0
    }
}
