/// Is called when its timer's deadline has passed. The loop keeps the handler alive from `makeTimer` to `removeTimer`.
package protocol TimerHandler: AnyObject {
    func deadlinePassed(_ timer: TimerID)
}

/// One timer of a loop, created once (for example for a connection) and set many times.
package struct TimerID: Equatable, Sendable {
    let index: Int32
    let generation: UInt32
}

/// Timers whose deadline can be moved to a later time at the cost of one memory write.
///
/// A binary heap orders timers by the time at which each will be *checked*. Moving a deadline later, as a connection does with every
/// request, only stores the new deadline. When the old time comes, the timer is checked, is not yet due, and is put back. Only a deadline
/// before the time of the next check moves the timer in the heap.
struct TimerQueue: ~Copyable {
    private struct Timer {
        var handler: (any TimerHandler)?
        var deadline: MonotonicTime
        var generation: UInt32
        /// The index in the heap, or -1.
        var position: Int32
    }

    private struct Node {
        var moment: MonotonicTime
        var index: Int32
    }

    private var timers: [Timer] = []
    private var free: [Int32] = []
    private var heap: [Node] = []

    /// The time of the next check, or `never`.
    var nextMoment: MonotonicTime { heap.isEmpty ? .never : heap[0].moment }
    var count: Int { timers.count - free.count }

    mutating func make(_ handler: any TimerHandler) -> TimerID {
        guard let index = free.popLast() else {
            timers.append(Timer(handler: handler, deadline: .never, generation: 0, position: -1))
            return TimerID(index: Int32(timers.count - 1), generation: 0)
        }
        timers[Int(index)].handler = handler
        return TimerID(index: index, generation: timers[Int(index)].generation)
    }

    /// Removes the timer. Its deadline is no longer reported.
    /// - Returns: its handler, for the caller to release.
    mutating func remove(_ id: TimerID) -> (any TimerHandler)? {
        let index = Int(id.index)
        precondition(timers[index].generation == id.generation, "the timer was removed before")
        if timers[index].position >= 0 { removeFromHeap(at: Int(timers[index].position)) }
        let handler = timers[index].handler
        timers[index].handler = nil
        timers[index].deadline = .never
        timers[index].generation &+= 1
        free.append(id.index)
        return handler
    }

    mutating func set(_ id: TimerID, at deadline: MonotonicTime) {
        let index = Int(id.index)
        precondition(timers[index].generation == id.generation, "the timer was removed before")
        timers[index].deadline = deadline
        if deadline == .never { return }
        let position = Int(timers[index].position)
        if position >= 0 {
            if deadline < heap[position].moment { siftUp(Node(moment: deadline, index: id.index), from: position) }
            return
        }
        heap.append(Node(moment: deadline, index: id.index))
        siftUp(Node(moment: deadline, index: id.index), from: heap.count - 1)
    }

    func deadline(of id: TimerID) -> MonotonicTime { timers[Int(id.index)].deadline }

    /// Returns the next timer whose deadline is at or before `now`, or `nil`, and unsets its deadline.
    mutating func takeDue(at now: MonotonicTime) -> (handler: any TimerHandler, id: TimerID)? {
        while let node = heap.first, node.moment <= now {
            let index = Int(node.index)
            let deadline = timers[index].deadline
            if deadline > now, deadline != .never {
                siftDown(Node(moment: deadline, index: node.index), from: 0)
                continue
            }
            removeFromHeap(at: 0)
            guard deadline != .never, let handler = timers[index].handler else { continue }
            timers[index].deadline = .never
            return (handler, TimerID(index: node.index, generation: timers[index].generation))
        }
        return nil
    }

    // MARK: Heap

    private mutating func place(_ node: Node, at position: Int) {
        heap[position] = node
        timers[Int(node.index)].position = Int32(truncatingIfNeeded: position)
    }

    private mutating func siftUp(_ node: Node, from start: Int) {
        var position = start
        while position > 0 {
            let parent = (position - 1) / 2
            if heap[parent].moment <= node.moment { break }
            place(heap[parent], at: position)
            position = parent
        }
        place(node, at: position)
    }

    private mutating func siftDown(_ node: Node, from start: Int) {
        var position = start
        while true {
            var child = 2 * position + 1
            if child >= heap.count { break }
            if child + 1 < heap.count, heap[child + 1].moment < heap[child].moment { child += 1 }
            if node.moment <= heap[child].moment { break }
            place(heap[child], at: position)
            position = child
        }
        place(node, at: position)
    }

    private mutating func removeFromHeap(at position: Int) {
        timers[Int(heap[position].index)].position = -1
        let last = heap.removeLast()
        if position == heap.count { return }
        if position > 0, last.moment < heap[(position - 1) / 2].moment {
            siftUp(last, from: position)
        } else {
            siftDown(last, from: position)
        }
    }
}
