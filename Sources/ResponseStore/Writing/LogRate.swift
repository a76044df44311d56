/// How many bytes of log the writer's work costs: 1 KiB of body some eight pages of 8 KiB where each index gets one, a large body its own length.
struct LogRate {
    /// Before the first transaction.
    private var rate = 6.0

    /// Of so little work, the totals' page is most of the log.
    private static let leastWork = 64 << 10

    func bytes(for work: Int) -> Int { Int(Double(work) * rate) }

    /// The worst at once, and slowly back.
    mutating func note(_ growth: Int, for work: Int) {
        guard work >= LogRate.leastWork else { return }
        let latest = Double(growth) / Double(work)
        rate = max(latest, (rate * 7 + latest) / 8)
    }
}
