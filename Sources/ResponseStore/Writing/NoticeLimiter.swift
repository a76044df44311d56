/// Reports each kind of notice at most once a minute.
struct NoticeLimiter {
    enum Kind: Int { case diskFull, writeFailed, damagedEntry, recounted }

    private let report: @Sendable (StoreNotice) -> Void
    private var last: [Int64?] = [nil, nil, nil, nil]

    init(_ report: @escaping @Sendable (StoreNotice) -> Void) { self.report = report }

    mutating func tell(_ notice: StoreNotice, kind: Kind) {
        let now = Clock.monotonicMilliseconds()
        if let last = last[kind.rawValue], now - last < 60_000 { return }
        last[kind.rawValue] = now
        report(notice)
    }
}
