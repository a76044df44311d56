/// The requests and bytes that a limit has counted for one client, user, host or rule. Times are monotonic, in microseconds.
struct LimitCount {
    /// The token bucket of `rate`. A full bucket has `count * microseconds` credits; a request takes `microseconds` of them, and each
    /// microsecond adds `count`.
    private var credit: UInt64
    private var creditTime: UInt64
    private var windowStart: UInt64
    private var requests: UInt64 = 0
    private var bytesOut: UInt64 = 0
    private var bytesIn: UInt64 = 0

    init(_ limit: RuleLimit, at now: UInt64) {
        credit = limit.rate.map { $0.count * $0.microseconds } ?? 0
        creditTime = now
        windowStart = now
    }

    /// Refills the bucket, and begins a new window if the last one has ended.
    mutating func advance(_ limit: RuleLimit, to now: UInt64) {
        if let rate = limit.rate, now > creditTime {
            // After its full period the bucket is full, so a longer time has the same effect. Limiting the time keeps the product from
            // overflowing.
            let elapsed = min(now - creditTime, rate.microseconds)
            credit = min(rate.count * rate.microseconds, credit + elapsed * rate.count)
            creditTime = now
        }
        if case .microseconds(let length) = limit.window, now >= windowStart, now - windowStart >= length {
            windowStart = now
            (requests, bytesOut, bytesIn) = (0, 0, 0)
        }
    }

    /// Why the limit does not permit one more request with content of this length, and the number of microseconds until it will.
    func refusal(_ limit: RuleLimit, bytesOut length: UInt64, at now: UInt64) -> (word: RuleLimit.Word, wait: UInt64?)? {
        if let rate = limit.rate, credit < rate.microseconds {
            return (.rate, (rate.microseconds - credit + rate.count - 1) / rate.count)
        }
        let rest = windowRest(limit, at: now)
        if let most = limit.requests, requests >= most { return (.requests, rest) }
        if let most = limit.bytesOut, length > most - min(most, bytesOut) { return (.bytesOut, length > most ? nil : rest) }
        return nil
    }

    /// Whether a response from an origin may still have content.
    func permitsFetch(_ limit: RuleLimit) -> Bool { limit.bytesIn.map { bytesIn < $0 } ?? true }

    mutating func add(_ limit: RuleLimit, bytesOut length: UInt64) {
        if let rate = limit.rate { credit -= rate.microseconds }
        if limit.requests != nil { requests += 1 }
        if limit.bytesOut != nil { bytesOut += length }
    }

    /// Whether this many more bytes are within the quota.
    func permits(_ length: UInt64, _ word: RuleLimit.Word, of limit: RuleLimit) -> Bool {
        switch word {
        case .bytesOut: limit.bytesOut.map { length <= $0 - min($0, bytesOut) } ?? true
        case .bytesIn: limit.bytesIn.map { length <= $0 - min($0, bytesIn) } ?? true
        case .requestBody, .responseBody, .rate, .requests: true
        }
    }

    mutating func add(_ length: UInt64, _ word: RuleLimit.Word, of limit: RuleLimit) {
        switch word {
        case .bytesOut: if limit.bytesOut != nil { bytesOut += length }
        case .bytesIn: if limit.bytesIn != nil { bytesIn += length }
        case .requestBody, .responseBody, .rate, .requests: break
        }
    }

    /// The number of microseconds until the window ends; `nil` if the window lasts until Larder ends.
    func windowRest(_ limit: RuleLimit, at now: UInt64) -> UInt64? {
        guard case .microseconds(let length) = limit.window else { return nil }
        return length - min(length, now - min(now, windowStart))
    }

    /// The time from which the count equals a new count, if nothing more is counted; `nil` if there is no such time.
    func idleTime(_ limit: RuleLimit) -> UInt64? {
        var time = creditTime
        if let rate = limit.rate {
            let lack = rate.count * rate.microseconds - credit
            time += (lack + rate.count - 1) / rate.count
        }
        switch limit.window {
        case .microseconds(let length): return max(time, windowStart + length)
        case .run: return nil
        case nil: return time
        }
    }
}
