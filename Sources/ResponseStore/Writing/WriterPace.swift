/// The recent speed of the writer.
struct WriterPace {
    /// The rate, in bytes of work per millisecond.
    private var rate = 32_000.0
    private var work = 0
    private var milliseconds: Int64 = 0
    private var began: Int64 = 0

    /// The minimum rate: before the first transaction nothing is known, and a disk that was slow for a moment may be fast again.
    private static let leastRate = 1_000.0
    /// Shorter and smaller measurements depend more on the clock and on the cost of a transaction than on the disk.
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
        // The average of the rate so far and the latest rate. So the rate follows a change within a few transactions.
        rate = max((rate + latest) / 2, WriterPace.leastRate)
        work = 0
        milliseconds = 0
    }
}
