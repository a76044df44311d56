/// The number of bytes that the writer's work adds to the log. A body of 1 KiB costs about eight pages of 8 KiB, since each index gets
/// one; a large body costs its own length.
struct LogRate {
    /// The rate before the first transaction.
    private var rate = 6.0

    /// Transactions with less work are ignored: most of their log is the page with the totals.
    private static let leastWork = 64 << 10

    func bytes(for work: Int) -> Int { Int(Double(work) * rate) }

    /// Adopts a higher rate at once, and a lower rate slowly.
    mutating func note(_ growth: Int, for work: Int) {
        guard work >= LogRate.leastWork else { return }
        let latest = Double(growth) / Double(work)
        rate = max(latest, (rate * 7 + latest) / 8)
    }
}
