/// How fast the writer has been of late.
struct WriterPace {
    /// In bytes of work for each millisecond.
    private var rate = 32_000.0
    private var work = 0
    private var milliseconds: Int64 = 0
    private var began: Int64 = 0

    /// Before the first transaction there is nothing to go by; and a disk that stood still for a moment may be fast again.
    private static let leastRate = 1_000.0
    /// What is shorter and smaller says more of the clock and of the cost of a transaction than of the disk.
    private static let leastMilliseconds: Int64 = 5
    private static let leastWork = 1 << 20

    func milliseconds(for work: Int) -> Int { Int(Double(work) / rate) }

    mutating func begin(at now: Int64) { began = now }

    mutating func end(_ done: Int, at now: Int64) {
        work += done
        milliseconds += now - began
        began = now
        guard milliseconds >= WriterPace.leastMilliseconds || work >= WriterPace.leastWork else { return }
        let latest = Double(work) / Double(max(milliseconds, 1))
        // Half of the latest: slow at once, fast again after a few.
        rate = max((rate + latest) / 2, WriterPace.leastRate)
        work = 0
        milliseconds = 0
    }
}
