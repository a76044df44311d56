import CommandSupport
import EventLoop
import LarderSettings
import Logging
import Synchronization
import TextCoding

/// Larder's log of its own operation: one line per message, on standard error.
struct ProcessLog: Sendable {
    let logger: Logger
    let warnings = RecentWarnings()
    /// Gets each message that is logged, beside standard error.
    let listener = LogListener()
    private let threshold: LogThreshold

    init(level: LarderSettings.LogLevel) {
        let threshold = LogThreshold(level)
        self.threshold = threshold
        let warnings = warnings
        let listener = listener
        logger = Logger(label: "larder") { _ in StandardErrorLog(threshold: threshold, warnings: warnings, listener: listener) }
    }

    /// Affects every copy of the logger, in all modules.
    func setLevel(_ level: LarderSettings.LogLevel) { threshold.set(level) }
}

/// The lowest level that is logged, shared by all copies of a logger so that a reload affects them.
final class LogThreshold: Sendable {
    private let place: Atomic<Int>

    init(_ level: LarderSettings.LogLevel) { place = Atomic(Self.place(of: level)) }

    var level: Logger.Level { Logger.Level.allCases[place.load(ordering: .relaxed)] }

    func set(_ level: LarderSettings.LogLevel) { place.store(Self.place(of: level), ordering: .relaxed) }

    private static func place(of level: LarderSettings.LogLevel) -> Int {
        // Every level that the settings accept is a level of swift-log.
        Logger.Level.allCases.firstIndex { $0.rawValue == level.rawValue }!
    }
}

/// Writes `larder: message`, with the level's name for warnings and above; control characters are replaced (threat T43).
struct StandardErrorLog: LogHandler {
    let threshold: LogThreshold
    private let warnings: RecentWarnings
    private let listener: LogListener
    var metadata: Logger.Metadata = [:]
    private var ownLevel: Logger.Level?

    init(
        threshold: LogThreshold, warnings: RecentWarnings = RecentWarnings(), listener: LogListener = LogListener()
    ) {
        self.threshold = threshold
        self.warnings = warnings
        self.listener = listener
    }

    var logLevel: Logger.Level {
        get { ownLevel ?? threshold.level }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let message = "\(event.message)"
        if event.level >= .warning { warnings.add(message) }
        listener.hear(event.level, message)
        Terminal.talk(line(event.level, message))
    }

    func line(_ level: Logger.Level, _ message: String) -> String {
        let prefix = level >= .warning ? "\(level): " : ""
        return "larder: \(prefix)\(printable(message, limit: 4096))\n"
    }
}

/// Passes the messages of the log on, once a receiver is set.
final class LogListener: Sendable {
    typealias Receiver = @Sendable (Logger.Level, String) -> Void

    private let receiver = Guarded<Receiver?>(nil)

    func set(_ receiver: Receiver?) { self.receiver.withLock { $0 = receiver } }

    func hear(_ level: Logger.Level, _ message: String) {
        let receiver = self.receiver.withLock { $0 }
        receiver?(level, message)
    }
}
