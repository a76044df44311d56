import Foundation

/// What a program that a test starts finds around it: nothing of this machine's settings, but what a sanitizer was told.
enum CleanEnvironment {
    static let variables = ["PATH": "/usr/bin:/bin", "HOME": "/proc/nonexistent"].merging(
        ProcessInfo.processInfo.environment.filter { $0.key == "ASAN_OPTIONS" || $0.key == "TSAN_OPTIONS" }
    ) { $1 }
}
