/// Numbers in the order in which they came, in storage that is used again.
struct TurnQueue {
    private var numbers: [UInt64] = []
    private var next = 0

    var isEmpty: Bool { next == numbers.count }

    mutating func append(_ number: UInt64) { numbers.append(number) }

    mutating func popFirst() -> UInt64? {
        if isEmpty { return nil }
        let first = numbers[next]
        next += 1
        if isEmpty {
            numbers.removeAll(keepingCapacity: true)
            next = 0
        } else if next > 1024, next * 2 > numbers.count {
            numbers.removeFirst(next)
            next = 0
        }
        return first
    }
}
