import Foundation
import HTTPMessage

/// Sets a command's clock back to the time of a recording, with libfaketime.
package struct FormerClock {
    /// The offset from the real time in seconds, 0 or less.
    package let offset: Int64
    private let library: String

    /// - Returns: `nil` if libfaketime is not installed.
    package init?(of recorded: Timestamp, now: Timestamp) {
        guard let library = Self.places.first(where: { access($0, R_OK) == 0 }) else { return nil }
        self.library = library
        offset = recorded.seconds - now.seconds
    }

    /// The variables that give the command and its children this clock.
    package func variables(over environment: [String: String]) -> [String: String] {
        let preloaded = [library] + (environment["LD_PRELOAD"].map { [$0] } ?? [])
        return [
            "LD_PRELOAD": preloaded.joined(separator: ":"),
            // libfaketime reads a value without a sign as an absolute time.
            "FAKETIME": offset < 0 ? "\(offset)" : "+\(offset)",
            // The monotonic clock stays real, so that waiting takes real time.
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        ]
    }

    /// Where Debian, Fedora, Alpine and others install libfaketime, in its version for programs with threads.
    private static var places: [String] {
        // An unreadable folder has no entries.
        let multiarch = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        let folders =
            ["/usr/lib64", "/usr/lib", "/usr/local/lib"] + multiarch.filter { $0.contains("-linux-") }.map { "/usr/lib/\($0)" }
        return folders.map { "\($0)/faketime/libfaketimeMT.so.1" }
    }
}
