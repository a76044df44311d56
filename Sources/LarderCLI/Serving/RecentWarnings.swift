import EventLoop
import Foundation
import HTTPMessage
import ProxyAdmin

/// The most recent warnings, for `larder status`, newest first.
final class RecentWarnings: Sendable {
    private let warnings = Guarded<[StatusSource.Warning]>([])

    private static let limit = 20

    var all: [StatusSource.Warning] { warnings.withLock { $0 } }

    func add(_ message: String) {
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        warnings.withLock { warnings in
            warnings.insert(StatusSource.Warning(at: now, message: message), at: 0)
            if warnings.count > Self.limit { warnings.removeLast() }
        }
    }
}
