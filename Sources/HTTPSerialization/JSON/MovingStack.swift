/// A stack whose elements move into arrays of exact size, without being retained or copied.
struct MovingStack<Element>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private var capacity = 64
    private(set) var count = 0

    init() { base = .allocate(capacity: 64) }

    deinit {
        base.deinitialize(count: count)
        base.deallocate()
    }

    @inline(__always)
    mutating func push(_ element: consuming Element) {
        if count == capacity { grow() }
        (base + count).initialize(to: element)
        count += 1
    }

    /// Removes all elements from `start` on.
    mutating func popAll(from start: Int) -> [Element] {
        let taken = count - start
        if taken == 0 { return [] }
        let first = base + start
        count = start
        return Array(unsafeUninitializedCapacity: taken) { buffer, initialized in
            buffer.baseAddress.unsafelyUnwrapped.moveInitialize(from: first, count: taken)
            initialized = taken
        }
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: base, count: count)
        base.deallocate()
        base = larger
        capacity *= 2
    }
}
