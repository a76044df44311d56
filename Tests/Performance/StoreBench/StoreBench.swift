import CLarderLinux
import Glibc
import EventLoop
import HTTPCaching
import HTTPMessage
import ResponseStore

/// What the store costs. A program, not a test: `swift run -c release StoreBench store|memory|lookup|stream|open|list|purge [FOLDER] [COUNT]`.
enum StoreBench {
    static func run(arguments: [String]) {
        let work = arguments.first ?? "all"
        let folder = arguments.count > 1 ? arguments[1] : "."
        let count = arguments.count > 2 ? Int(arguments[2]) : nil
        let path = "\(folder)/store-bench.db"
        let all: [(String, () throws -> Void)] = [
            ("store", { try store(path, count: count ?? 200_000) }),
            ("memory", { try memory(path, count: count ?? 2_000_000) }),
            ("lookup", { try lookUp(path, count: count ?? 100_000) }),
            ("stream", { try stream(path, mebibytes: count ?? 1024) }),
            ("open", { try open(path, count: count ?? 1_000_000) }),
            ("list", { try list(path, count: count ?? 1_000_000) }),
            ("purge", { try purge(path, count: count ?? 1_000_000) }),
        ]
        for (name, body) in all where work == "all" || work == name {
            removeFiles(path)
            do { try body() } catch { print("\(name): \(error)") }
            removeFiles(path)
        }
    }

    // MARK: Storing small responses

    static func store(_ path: String, count: Int) throws {
        let store = try ResponseStore(StoreConfiguration(path: path))
        let body = [UInt8](repeating: 0x61, count: 1024)
        let template = response(number: 0, body: body)
        // The caller's side alone, as many as the queue takes.
        let first = (0..<20_000).map { response(number: $0, body: body, like: template) }
        let caller = Measure(ofThread: true)
        for response in first { _ = store.put(response) }
        print("put() on the caller's side: \(Int(caller.cpuSeconds / Double(first.count) * 1e9)) ns of CPU")
        drain(store, until: first.count)
        var busy = 0
        let measure = Measure()
        for number in first.count..<first.count + count {
            let response = Self.response(number: number, body: body, like: template)
            while case .busy = store.put(response) {
                busy += 1
                usleep(1000)
            }
        }
        drain(store, until: first.count + count)
        measure.report("store 1 KiB", count: count, bytes: count * 1024)
        let statistics = store.statistics
        print(
            "  busy \(busy) times, entries \(statistics.entries), \(statistics.bytes >> 20) MiB, "
                + "resident \(Measure.residentMebibytes()) MiB")
        store.shutdown()
    }

    // MARK: Finding in memory

    static func memory(_ path: String, count: Int) throws {
        let store = try ResponseStore(StoreConfiguration(path: path))
        let body = [UInt8](repeating: 0x61, count: 1024)
        let entries = 20_000
        let keys = (0..<entries).map { key($0) }
        for number in 0..<entries { _ = store.put(response(number: number, body: body)) }
        drain(store, until: entries)
        for (name, distinct) in [("one key", 1), ("20,000 keys", entries)] {
            var found = 0
            var state: UInt64 = 1
            let measure = Measure()
            for _ in 0..<count {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let key = keys[Int(state >> 33) % distinct]
                if case .found = store.inMemory(key.span) { found += 1 }
            }
            measure.report("found in memory, \(name) (\(found * 100 / count)%)", count: count)
        }
        let missing = (0..<1000).map { key(entries + $0) }
        var absent = 0
        let measure = Measure()
        for number in 0..<count {
            let key = missing[number % 1000]
            if case .absent = store.inMemory(key.span) { absent += 1 }
        }
        measure.report("certainly absent (\(absent * 100 / count)%)", count: count)
        store.shutdown()
    }

    // MARK: Finding on the disk

    static func lookUp(_ path: String, count: Int) throws {
        var configuration = StoreConfiguration(path: path)
        configuration.disk = .init(high: 8 << 30, low: 7 << 30)
        let body = [UInt8](repeating: 0x61, count: 1024)
        var store = try ResponseStore(configuration)
        let entries = count * 2
        for number in 0..<entries {
            while case .busy = store.put(response(number: number, body: body)) { usleep(1000) }
        }
        drain(store, until: entries)
        store.shutdown()
        // Memory so small that every look-up goes to the file.
        configuration.memory = .init(high: 1 << 16, low: 1 << 15)
        for readers in [1, 2] {
            for isCold in [true, false] {
                configuration.readerCount = readers
                if isCold { dropPages(path) }
                store = try ResponseStore(configuration)
                let keys = (0..<count).map { key(($0 &* 7919) % entries) }
                let measure = Measure()
                let found = lookUpAll(store, keys, outstanding: 16)
                measure.report(
                    "look-up, \(isCold ? "cold" : "warm") pages, \(readers) readers (\(found * 100 / count)%)", count: count)
                store.shutdown()
            }
        }
    }

    static func lookUpAll(_ store: ResponseStore, _ keys: [[UInt8]], outstanding: Int) -> Int {
        guard let loop = try? EventLoop() else { return 0 }
        var next = 0
        var answered = 0
        var found = 0
        func ask() {
            guard next < keys.count else { return }
            next += 1
            store.lookUp(
                keys[next - 1],
                reply: loop.reply { result in
                    answered += 1
                    if case .found = result { found += 1 }
                    if answered == keys.count { loop.stop() }
                    ask()
                })
        }
        for _ in 0..<outstanding { ask() }
        loop.run()
        return found
    }

    // MARK: Large bodies

    static func stream(_ path: String, mebibytes: Int) throws {
        var configuration = StoreConfiguration(path: path)
        configuration.disk = .init(high: max(2 << 30, mebibytes << 21), low: max(3 << 29, mebibytes << 21))
        let store = try ResponseStore(configuration)
        let loop = try EventLoop()
        let length = mebibytes << 20
        let piece = (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let plan = PendingPlan(response: response(number: 0, body: []), length: UInt64(length))
        guard let pending = store.beginPending(plan) else { return print("no pending") }
        var sent = 0
        var pauses = 0
        var top = 0
        func send() {
            while sent < length {
                sent += piece.count
                if pending.append(piece.span) == .pause {
                    pauses += 1
                    top = max(top, Measure.residentMebibytes())
                    pending.whenReady(loop.reply { _ in send() })
                    return
                }
            }
            pending.finish()
            pending.whenStored(loop.reply { _ in loop.stop() })
        }
        let measure = Measure()
        send()
        loop.run()
        measure.report("stream \(mebibytes) MiB in (per MiB)", count: mebibytes, bytes: length)
        print("  paused \(pauses) times, resident at most \(top) MiB")
        guard case .found(let variants) = store.inMemory(key(0).span), case .onDisk(let body) = variants.responses[0].body else {
            return print("not stored")
        }
        for name in ["warm", "cold"] {
            if name == "cold" { dropPages(path) }
            readAll(store, body, loop, name)
        }
        store.shutdown()
    }

    static func readAll(_ store: ResponseStore, _ body: BodyReference, _ loop: EventLoop, _ name: String) {
        let hold = store.hold(body)
        var next: UInt64 = 0
        var received: UInt64 = 0
        var failed = false
        // Two pieces ahead, as a delivery would ask.
        func ask() {
            guard next < body.length, !failed else { return }
            let offset = next
            next += 128 << 10
            store.readBody(
                body, at: offset,
                reply: loop.reply { result in
                    if case .bytes(_, let range) = result { received += UInt64(range.count) } else { failed = true }
                    if received == body.length || failed { loop.stop() }
                    ask()
                })
        }
        let measure = Measure()
        ask()
        ask()
        loop.run()
        measure.report(
            "read it, \(name) (per MiB)\(failed ? " FAILED" : "")", count: Int(body.length >> 20), bytes: Int(received))
        withExtendedLifetime(hold) {}
    }

    // MARK: Opening a large store

    static func open(_ path: String, count: Int) throws {
        var configuration = StoreConfiguration(path: path)
        configuration.disk = .init(high: 16 << 30, low: 15 << 30)
        let body = [UInt8](repeating: 0x61, count: 1024)
        var store = try ResponseStore(configuration)
        let pending = Measure()
        for number in 0..<count {
            while case .busy = store.put(response(number: number, body: body)) { usleep(1000) }
        }
        drain(store, until: count)
        pending.report("store 1 KiB, \(count) of them", count: count)
        store.shutdown()
        for name in ["cold", "warm"] {
            if name == "cold" { dropPages(path) }
            let measure = Measure()
            store = try ResponseStore(configuration)
            let opened = measure.wallSeconds
            while !store.statistics.knowsKeys { usleep(1000) }
            print(
                "open \(store.statistics.entries) entries, \(name): \(Measure.rounded(opened * 1000, 2)) ms; keys known after "
                    + "\(Measure.rounded(measure.wallSeconds, 2)) s, resident \(Measure.residentMebibytes()) MiB")
            store.shutdown()
        }
    }

    // MARK: -

    static func key(_ number: Int) -> [UInt8] {
        var key: [UInt8] = Array("http://bench.example.test:80/some/path/of/usual/length/".utf8)
        key.append(decimal: UInt64(number))
        return key
    }

    static func response(number: Int, body: [UInt8], like template: StoredResponse? = nil) -> StoredResponse {
        let facts = ReuseFacts(status: .ok, responseTime: Timestamp(seconds: 1_700_000_000))
        var head = ResponseHead()
        if let template {
            head = template.head
        } else {
            head.fields.append(name: "Date", value: "Tue, 14 Nov 2023 22:13:20 GMT")
            head.fields.append(name: "Content-Type", value: "application/octet-stream")
            head.fields.append(name: "Cache-Control", value: "max-age=3600")
            head.fields.append(name: "ETag", value: "\"0123456789abcdef\"")
            head.fields.append(name: "Server", value: "bench")
        }
        return StoredResponse(
            key: key(number), nominatedFields: [], facts: facts, head: head, requestTime: Timestamp(seconds: 1_700_000_000),
            body: .bytes(body))
    }

    static func drain(_ store: ResponseStore, until count: Int) {
        while store.statistics.stored < count { usleep(500) }
    }

    /// Asks the kernel to forget the file's pages, so that reads are cold.
    static func dropPages(_ path: String) {
        let descriptor = Glibc.open(path, O_RDONLY)
        guard descriptor >= 0 else { return }
        fdatasync(descriptor)
        _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        close(descriptor)
    }

    static func removeFiles(_ path: String) {
        for suffix in ["", "-wal", "-shm", ".lock", ".reserved"] { unlink(path + suffix) }
    }
}
