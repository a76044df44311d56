import Foundation

/// The environment of a program that a test starts: none of this machine's settings, except the sanitizer's options.
enum CleanEnvironment {
    static let variables = ["PATH": "/usr/bin:/bin", "HOME": "/proc/nonexistent"].merging(
        ProcessInfo.processInfo.environment.filter { ["ASAN_OPTIONS", "TSAN_OPTIONS", "LARDER_SANITIZE"].contains($0.key) }
    ) { $1 }
}
