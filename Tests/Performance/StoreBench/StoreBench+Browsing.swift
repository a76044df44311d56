import CLarderLinux
import Glibc
import HTTPCaching
import HTTPMessage
import ResponseStore

/// Listing a store and purging it.
extension StoreBench {
    /// Every entry of a store, page by page, as `larder cache ls -o ndjson` reads them; then a verification.
    static func list(_ path: String, count: Int) throws {
        let store = try filled(path, count: count)
        store.shutdown()
        for name in ["cold", "warm"] {
            if name == "cold" { dropPages(path) }
            let browser = try StoreBrowser(path: path)
            let before = Measure.residentMebibytes()
            var top = before
            var longest = 0.0
            var seen = 0
            let measure = Measure()
            var listing: StoreListing? = StoreListing(StoreFilter(), at: Timestamp(seconds: 1_700_000_100))
            while let place = listing {
                let page = Measure()
                let found = try browser.page(place)
                longest = max(longest, page.wallSeconds)
                seen += found.entries.count
                listing = found.next
                if seen % 65_536 == 0 { top = max(top, Measure.residentMebibytes()) }
            }
            measure.report("list, \(name)", count: seen)
            print("  longest page \(Measure.rounded(longest * 1000, 1)) ms, resident \(before) MiB, at most \(top) MiB")
        }
        let browser = try StoreBrowser(path: path)
        var verification = StoreVerification(isAlone: true)
        let measure = Measure()
        while !verification.isAtEnd { try browser.verify(&verification) }
        measure.report("verify (\(verification.faultCount) faults)", count: verification.rows)
    }

    /// A tenth of a store is purged by a prefix, while others are found in memory.
    static func purge(_ path: String, count: Int) throws {
        let store = try filled(path, count: count)
        while !store.statistics.knowsKeys { usleep(1000) }
        var filter = StoreFilter()
        precondition(filter.set(.url, to: "http://bench.example.test/some/path/of/usual/length/1*"))
        let report = PurgeReport()
        let hot = key(count - 1)
        let quiet = percentile(store, hot) { $0 >= 400_000 }
        let measure = Measure()
        store.purge(.matching(filter), at: Timestamp(seconds: 1_700_000_100), report: report.take)
        guard case .inEffect = report.next() else { return print("purge: not in effect") }
        let acknowledged = measure.wallSeconds
        var removed = 0
        let busy = percentile(store, hot) { _ in
            guard case .done(let count) = report.next(waitingAtMost: 0) else { return false }
            removed = count
            return true
        }
        print(
            "purge \(removed) of \(count): in effect after \(Measure.rounded(acknowledged * 1000, 1)) ms, done after "
                + "\(Measure.rounded(measure.wallSeconds, 2)) s; p99 of look-ups in memory \(quiet) ns before, \(busy) ns meanwhile"
        )
        store.shutdown()
    }

    /// Looks one key up in memory until it is over. The 99th percentile, in nanoseconds.
    private static func percentile(_ store: ResponseStore, _ key: [UInt8], until isOver: (Int) -> Bool) -> Int {
        var counts = [Int](repeating: 0, count: 100_000)
        var total = 0
        while total % 4096 != 0 || !isOver(total) {
            let measure = nanoseconds()
            _ = store.inMemory(key.span)
            counts[min(nanoseconds() - measure, counts.count - 1)] += 1
            total += 1
        }
        var left = total / 100
        for (time, count) in counts.enumerated().reversed() {
            left -= count
            if left <= 0 { return time }
        }
        return 0
    }

    private static func nanoseconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
    }

    private static func filled(_ path: String, count: Int) throws -> ResponseStore {
        var configuration = StoreConfiguration(path: path)
        configuration.disk = .init(high: 16 << 30, low: 15 << 30)
        let body = [UInt8](repeating: 0x61, count: 1024)
        let store = try ResponseStore(configuration)
        let template = response(number: 0, body: body)
        let pending = Measure()
        for number in 0..<count {
            let response = Self.response(number: number, body: body, like: template)
            while case .busy = store.put(response) { usleep(1000) }
        }
        drain(store, until: count)
        pending.report("store 1 KiB, \(count) of them", count: count)
        return store
    }
}
