import Glibc
import HTTPCaching
import ResponseStore

/// One process that stores and evicts without a pause, and another that reads its file behind memory.
extension StoreTorture {
    /// Each number comes again and again, so that rows go and come all the time.
    private static let churned = 3000

    static func churn(_ path: String) throws {
        let store = try open(path) { $0.disk = .init(high: 24 << 20, low: 16 << 20) }
        var round = 0
        while true {
            for number in 0..<churned {
                if isLarge(number) { fillLarge(store, number) } else { put(store, number) }
                if number % 5 == round % 5 { store.invalidate([key(number / 2)]) }
                print(round * churned + number)
                fflush(nil)
                if number % 16 == 0 { usleep(2000) }
            }
            round += 1
        }
    }

    /// Looks until it is told to end (SIGTERM), and prints at every tenth look its number, once it has found a large body. Fails where a
    /// byte is wrong, or next to nothing was found.
    static func readBackingStore(_ path: String) throws {
        // The only flag that a handler of a signal may set.
        signal(SIGTERM) { _ in isToldToEnd = 1 }
        // The thread that starts this program may block every signal.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigprocmask(SIG_UNBLOCK, &signals, nil)
        let store = try open(path) {
            $0.access = .readOnlyBackingStore
            // Little room, so that most is read from the file; and large bodies stay there.
            $0.memory = .init(high: 1 << 20, low: 1 << 19)
            $0.memoryBodyLimit = 1 << 20
        }
        var (found, large, failed, wrong, number, looks) = (0, 0, 0, 0, 0, 0)
        while isToldToEnd == 0 {
            number = (number * 7 + 1) % churned
            for number in [number, number / 300 * 300 + 7] {
                guard let response = find(store, number) else { continue }
                found += 1
                if case .onDisk = response.body { large += 1 }
                // It may have been evicted meanwhile; then there is no body rather than a wrong one.
                guard let octets = bytes(store, response) else {
                    failed += 1
                    continue
                }
                if octets != body(number) { wrong += 1 }
            }
            looks += 1
            if looks % 10 == 0, large > 0 {
                print(looks)
                fflush(nil)
            }
        }
        store.shutdown()
        print("found \(found), \(large) of them large, failed \(failed), wrong \(wrong)")
        exit(wrong == 0 && found > 0 && large > 0 && failed < found / 2 ? 0 : 1)
    }
}

nonisolated(unsafe) private var isToldToEnd: sig_atomic_t = 0
