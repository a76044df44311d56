import CLarderLinux
import Glibc
import HTTPCaching
import HTTPMessage
import ResponseStore
import TestSupport

/// A store under load, to be killed, and the look at what is left of it.
///
///     StoreTorture write PATH         stores until it is killed, and says after each response which ones it has handed over
///     StoreTorture verify PATH LAST   fails unless every response up to LAST is there, and none has a wrong byte
///     StoreTorture flip PATH FROM TO  flips one bit of a store's file for each seed of the range, and looks at everything in it
///     StoreTorture purge PATH         stores and purges until it is killed, and says each round whose purge was acknowledged
///     StoreTorture purged PATH LAST   fails unless everything that was purged up to that round is gone
///     StoreTorture churn PATH         stores and evicts until it is killed, and says each number
///     StoreTorture behind PATH       reads that file behind memory meanwhile, and fails where a byte is wrong
///     StoreTorture fill PATH COUNT    stores COUNT responses of 16 KiB, and says how many are there, and what it was told
///
/// A response's body follows from its number, so that each run can judge what another one wrote.
enum StoreTorture {
    static func run(arguments: [String]) {
        do {
            switch arguments.first {
            case "write" where arguments.count == 2: try write(arguments[1])
            case "verify" where arguments.count == 3: try verify(arguments[1], last: Int(arguments[2]) ?? -1)
            case "flip" where arguments.count == 4:
                let (first, last) = (UInt64(arguments[2]) ?? 0, UInt64(arguments[3]) ?? 0)
                try flip(arguments[1], seeds: first..<max(first + 1, last))
            case "purge" where arguments.count == 2: try purge(arguments[1])
            case "purged" where arguments.count == 3: try verifyPurged(arguments[1], last: Int(arguments[2]) ?? -1)
            case "fill" where arguments.count == 3: try fill(arguments[1], count: Int(arguments[2]) ?? 0)
            case "churn" where arguments.count == 2: try churn(arguments[1])
            case "behind" where arguments.count == 2:
                try readBackingStore(arguments[1])
            default:
                print(
                    "StoreTorture write PATH | verify PATH LAST | flip PATH FROM TO | purge PATH | purged PATH LAST | churn PATH "
                        + "| behind PATH | fill PATH COUNT")
                exit(2)
            }
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    // MARK: Writing

    private static func write(_ path: String) throws {
        let store = try open(path)
        var number = next(store)
        print("from \(number)")
        while true {
            if isLarge(number) {
                number % 3 == 0 ? fillParts(store, number) : fillLarge(store, number)
            } else {
                put(store, number)
            }
            print(number)
            fflush(nil)
            number += 1
            if number % 4 == 0 { usleep(4000) }
        }
    }

    /// Goes on where the last process was killed.
    private static func next(_ store: ResponseStore) -> Int {
        var number = 0
        while find(store, number) != nil || find(store, number + 1) != nil || find(store, number + 2) != nil { number += 1 }
        return number
    }

    static func put(_ store: ResponseStore, _ number: Int) {
        while case .busy = store.put(response(number, body: body(number))) { usleep(1000) }
    }

    static func fillLarge(_ store: ResponseStore, _ number: Int) {
        let body = body(number)
        let plan = PendingPlan(response: response(number, body: []), length: number % 2 == 1 ? UInt64(body.count) : nil)
        guard let pending = store.beginPending(plan) else { return put(store, number) }
        var offset = 0
        while offset < body.count {
            let end = min(offset + 100_000, body.count)
            if pending.append(body.span.extracting(offset..<end)) == .pause { usleep(5000) }
            offset = end
        }
        pending.finish()
    }

    /// The same in three parts that overlap, the last one first.
    private static func fillParts(_ store: ResponseStore, _ number: Int) {
        let body = body(number)
        let third = body.count / 3
        for range in [2 * third..<body.count, 0..<third + 1000, third..<2 * third + 1000] {
            let part = (start: UInt64(range.lowerBound), whole: UInt64(body.count))
            let plan = PendingPlan(response: response(number, body: []), length: UInt64(range.count), part: part)
            guard let pending = store.beginPending(plan) else { return put(store, number) }
            for start in stride(from: range.lowerBound, to: range.upperBound, by: 100_000) {
                let end = min(start + 100_000, range.upperBound)
                if pending.append(body.span.extracting(start..<end)) == .pause { usleep(5000) }
            }
            pending.finish()
        }
    }

    // MARK: Looking

    private static func verify(_ path: String, last: Int) throws {
        let store = try open(path)
        var missing: [Int] = []
        var wrong: [Int] = []
        var found = 0
        var number = 0
        var misses = 0
        while number <= last || misses < 200 {
            if let response = find(store, number) {
                found += 1
                misses = 0
                if bytes(store, response) != body(number) { wrong.append(number) }
            } else {
                misses += 1
                if number <= last { missing.append(number) }
            }
            number += 1
        }
        store.shutdown()
        print("found \(found), missing \(missing.prefix(10)) of those up to \(last), wrong \(wrong.prefix(10))")
        exit(missing.isEmpty && wrong.isEmpty ? 0 : 1)
    }

    private static func fill(_ path: String, count: Int) throws {
        let store = try open(path) { $0.report = { print("told: \($0)") } }
        var busy = 0
        let content = [UInt8](repeating: 0x61, count: 16 << 10)
        for number in 0..<count {
            if case .busy = store.put(response(number, body: content)) {
                busy += 1
                usleep(1000)
            }
            if number % 64 == 0 { usleep(5000) }
        }
        sleep(2)
        while case .busy = store.put(response(count, body: content)) { usleep(10_000) }
        sleep(1)
        let statistics = store.statistics
        print("entries \(statistics.entries), evicted \(statistics.evicted), not stored \(statistics.notStored), busy \(busy)")
        store.shutdown()
        let again = try open(path)
        let isThere = find(again, count) != nil
        print("the last one is \(isThere ? "there" : "missing")")
        again.shutdown()
        exit(isThere && statistics.entries > 0 ? 0 : 1)
    }

    // MARK: -

    static func open(_ path: String, _ adjust: (inout StoreConfiguration) -> Void = { _ in }) throws -> ResponseStore {
        var configuration = StoreConfiguration(path: path)
        // Nothing is evicted: what is missing was lost.
        configuration.disk = .init(high: 1 << 40, low: 1 << 40)
        configuration.report = { print("told: \($0)") }
        adjust(&configuration)
        return try ResponseStore(configuration)
    }

    static func response(_ key: [UInt8], body: [UInt8]) -> StoredResponse {
        StoredResponse(
            key: key, nominatedFields: [], facts: ReuseFacts(status: .ok, responseTime: Timestamp(seconds: 1_700_000_000)),
            head: ResponseHead(), requestTime: Timestamp(seconds: 1_700_000_000), body: .bytes(body))
    }

    static func response(_ number: Int, body: [UInt8]) -> StoredResponse {
        var facts = ReuseFacts(status: .ok, responseTime: Timestamp(seconds: 1_700_000_000))
        var head = ResponseHead()
        if number % 3 == 0 {
            facts.flags.insert(.strongETag)
            head.fields.append("ETag", "\"t\"")
        }
        head.fields.append(name: "X-Number", value: "\(number)")
        return StoredResponse(
            key: key(number), nominatedFields: [], facts: facts, head: head, requestTime: Timestamp(seconds: 1_700_000_000),
            body: .bytes(body))
    }

    static func isLarge(_ number: Int) -> Bool { number % 300 == 7 || number % 700 == 10 }

    static func key(_ number: Int) -> [UInt8] { Array("http://torture.test:80/\(number)".utf8) }

    static func body(_ number: Int) -> [UInt8] {
        let count = isLarge(number) ? 3_000_000 + number % 7 * 1_000_003 : 100 + number * 977 % 40_000
        return PatternBytes.make(count, seed: UInt64(number))
    }

    static func find(_ store: ResponseStore, _ number: Int) -> StoredResponse? {
        let key = key(number)
        switch store.inMemory(key.span) {
        case .found(let variants): return variants.responses.first
        case .absent: return nil
        case .unknown: break
        }
        let result: LookUpResult? = wait { reply in store.lookUp(key, reply: reply) }
        guard case .found(let variants) = result else { return nil }
        return variants.responses.first
    }

    static func bytes(_ store: ResponseStore, _ response: StoredResponse) -> [UInt8]? {
        switch response.body {
        case .bytes(let bytes): return bytes
        case .onDisk(let reference):
            var bytes: [UInt8] = []
            while UInt64(bytes.count) < reference.length {
                let offset = UInt64(bytes.count)
                let result: BodyReadResult? = wait { reply in store.readBody(reference, at: offset, reply: reply) }
                guard case .bytes(let piece, let range) = result else { return nil }
                bytes += piece[range]
            }
            return bytes
        }
    }
}
