/// The rules that may match one request, in the order of the settings. Several ascending lists of rule numbers are merged as they are
/// read. The storage is reused.
package struct RuleCandidates: Sendable {
    /// For each list, the part that is not read yet, as positions in `HostIndex.numbers`.
    private var lists: [Range<Int>] = []

    package init() {}

    mutating func removeAll() {
        if !lists.isEmpty { lists.removeAll(keepingCapacity: true) }
    }

    mutating func add(_ list: Range<Int>) {
        if !list.isEmpty { lists.append(list) }
    }

    /// The smallest number that is not read yet. Each number is returned once.
    mutating func next(in numbers: [UInt32]) -> Int? {
        if lists.count == 1 {
            let list = lists[0]
            if list.isEmpty { return nil }
            lists[0] = list.lowerBound + 1..<list.upperBound
            return Int(numbers[list.lowerBound])
        }
        var least: UInt32?
        for list in lists where !list.isEmpty {
            let number = numbers[list.lowerBound]
            if number < least ?? .max { least = number }
        }
        guard let least else { return nil }
        for index in 0..<lists.count where !lists[index].isEmpty && numbers[lists[index].lowerBound] == least {
            lists[index] = lists[index].lowerBound + 1..<lists[index].upperBound
        }
        return Int(least)
    }
}
