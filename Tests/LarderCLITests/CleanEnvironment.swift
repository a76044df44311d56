import Foundation

/// The environment of a program that a test starts: none of this machine's settings, except the sanitizer's options.
enum CleanEnvironment {
    static let variables = ["PATH": "/usr/bin:/bin", "HOME": "/proc/nonexistent"].merging(
        ProcessInfo.processInfo.environment.filter { $0.key == "ASAN_OPTIONS" || $0.key == "TSAN_OPTIONS" }
    ) { $1 }
}
