import Foundation

/// CPU of this process, with all its threads, and its memory.
struct Measure {
    private let began = Measure.cpu

    /// In microseconds, since it was made.
    var microseconds: Double { Measure.cpu - began }

    private static var cpu: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let seconds = Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        return seconds * 1e6 + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
    }

    /// What is resident now and was at most, in KiB.
    static var memory: (now: Int, most: Int) {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        func value(_ name: String) -> Int {
            let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
            return line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
        }
        return (value("VmRSS:"), value("VmHWM:"))
    }
}

/// Runs so many, some of them at once.
func run(_ count: Int, inFlight: Int, _ body: @escaping @Sendable () async throws -> Void) async throws {
    if inFlight == 1 {
        for _ in 0..<count { try await body() }
        return
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<inFlight {
            let share = count / inFlight + (worker < count % inFlight ? 1 : 0)
            group.addTask { for _ in 0..<share { try await body() } }
        }
        try await group.waitForAll()
    }
}
