import CLarderLinux
import Glibc

/// Wall-clock time and CPU time from its making on: of all threads, or of the one that asks.
struct Measure {
    private let clock: clockid_t
    private let wall: Int
    private let cpu: Int

    init(ofThread: Bool = false) {
        clock = ofThread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID
        wall = Measure.nanoseconds(CLOCK_MONOTONIC)
        cpu = Measure.nanoseconds(clock)
    }

    var wallSeconds: Double { Double(Measure.nanoseconds(CLOCK_MONOTONIC) - wall) / 1e9 }
    var cpuSeconds: Double { Double(Measure.nanoseconds(clock) - cpu) / 1e9 }

    func report(_ name: String, count: Int, bytes: Int = 0) {
        let wall = wallSeconds
        let cpu = cpuSeconds
        var line =
            "\(name): \(Measure.rounded(Double(count) / wall, 0)) /s, \(Measure.rounded(cpu / Double(count) * 1e6, 2)) µs CPU each"
        if bytes > 0 { line += ", \(Measure.rounded(Double(bytes) / wall / 1e6, 0)) MB/s" }
        print(line + " (\(Measure.rounded(wall, 2)) s)")
    }

    static func rounded(_ value: Double, _ digits: Int) -> String {
        var factor = 1.0
        for _ in 0..<digits { factor *= 10 }
        let rounded = (value * factor).rounded() / factor
        return digits == 0 ? "\(Int(rounded))" : "\(rounded)"
    }

    static func residentMebibytes() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, 128, file) != nil else { return 0 }
        let fields = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: " ")
        return (Int(fields[1]) ?? 0) * 4096 / (1 << 20)
    }

    private static func nanoseconds(_ clock: clockid_t) -> Int {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
    }
}
