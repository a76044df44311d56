import Foundation
import HTTPMessage

/// A clock for a command that is behind by as long as a recording is old, by libfaketime.
package struct FormerClock {
    /// In seconds, 0 or less.
    package let offset: Int64
    private let library: String

    /// - Returns: `nil` where libfaketime is not installed.
    package init?(of recorded: Timestamp, now: Timestamp) {
        guard let library = Self.places.first(where: { access($0, R_OK) == 0 }) else { return nil }
        self.library = library
        offset = recorded.seconds - now.seconds
    }

    /// What has the programs that the command begins be told the time by it.
    package func variables(over environment: [String: String]) -> [String: String] {
        let preloaded = [library] + (environment["LD_PRELOAD"].map { [$0] } ?? [])
        return [
            "LD_PRELOAD": preloaded.joined(separator: ":"),
            // Without a sign it would be a moment.
            "FAKETIME": offset < 0 ? "\(offset)" : "+\(offset)",
            // What is waited for lasts as long as it lasts.
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        ]
    }

    /// Where Debian, Fedora, Alpine and others put it; the one for programs with threads.
    private static var places: [String] {
        let multiarch = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []  // unreadable: none of them
        let folders =
            ["/usr/lib64", "/usr/lib", "/usr/local/lib"] + multiarch.filter { $0.contains("-linux-") }.map { "/usr/lib/\($0)" }
        return folders.map { "\($0)/faketime/libfaketimeMT.so.1" }
    }
}
