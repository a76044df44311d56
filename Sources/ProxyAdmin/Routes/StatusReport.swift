import HTTPMessage
import ProxyCore
import ProxyServer
import ResponseStore
import TextCoding

/// The status at one moment, as JSON and as text.
struct StatusReport {
    let process: StatusSource
    let now: Timestamp
    let mode: ExchangeContext.Mode
    /// The state of the network, if the mode depends on it; otherwise `nil`.
    let network: String?
    let loops: LoopStatistics
    let store: StoreStatistics
    /// The transformed bodies of stored responses that are now cached.
    let transformedBodies: (count: Int, bytes: Int)
    private let policy: PolicyStatus
    private let parents: ParentStatus
    private let warnings: [StatusSource.Warning]
    private let residentBytes: Int?
    private let allocator: (given: Int, held: Int)

    init(
        process: StatusSource, now: Timestamp, mode: ExchangeContext.Mode, network: String?, loops: LoopStatistics,
        store: StoreStatistics, transformedBodies: (count: Int, bytes: Int), policy: PolicyStatus,
        parents: ParentStatus
    ) {
        self.process = process
        self.now = now
        self.mode = mode
        self.network = network
        self.loops = loops
        self.store = store
        self.transformedBodies = transformedBodies
        self.policy = policy
        self.parents = parents
        warnings = process.warnings()
        residentBytes = ProcessMemory.residentBytes()
        allocator = ProcessMemory.allocator()
    }

    private var uptimeMilliseconds: Int64 { max(0, now.milliseconds - process.startedAt.milliseconds) }

    private var outcomes: [(word: String, count: UInt64)] {
        DecisionTrace.Outcome.allCases.map { ("\($0.word)", loops.count(of: $0)) }.filter { $0.1 > 0 }
    }

    /// The reasons why storable responses were not stored, each with the number of responses.
    private var unstored: [(word: String, count: Int)] {
        UnstoredReason.allCases.compactMap { reason in store.unstored[reason].map { ("\(reason.word)", $0) } }
    }

    // MARK: JSON

    var json: JSONText {
        .object([
            ("version", .string(process.version)), ("pid", .number(Int(process.process))),
            ("started", .string(process.startedAt.rfc3339)), ("uptime_ms", .number(Int(uptimeMilliseconds))),
            ("mode", .string(mode.word)), ("network", network.map(JSONText.string) ?? .null),
            ("settings_file", process.settingsFile().map(JSONText.string) ?? .null),
            ("listeners", .array(process.listeners.map(JSONText.string))), ("loops", .number(process.loops)),
            ("connections", .object([("open", .number(loops.connections)), ("tunnels", .number(loops.tunnels))])),
            ("requests", requestsJSON), ("policy", policy.json), ("parents", parents.json),
            ("bytes", .object([("sent", .count(loops.sentBytes)), ("saved", .count(loops.savedBytes))])),
            ("transforms", transformsJSON), ("store", storeJSON), ("memory", memoryJSON),
            ("access_log", .object([("dropped", .count(process.droppedLines()))])),
            ("audit_log", auditLogJSON), ("shared_tier", process.sharedTier?().json ?? .null),
            ("warnings", .array(warnings.map(Self.json))),
        ])
    }

    private var requestsJSON: JSONText {
        .object([
            ("total", .count(loops.requests)), ("hits", .count(loops.hits)),
            ("outcomes", .object(outcomes.map { ($0.word, .count($0.count)) })),
        ])
    }

    private var transformsJSON: JSONText {
        .object([
            ("applied", .count(loops.transformed)), ("skipped", .count(loops.untransformed)),
            ("failed", .count(loops.failedTransforms)), ("kept", .number(transformedBodies.count)),
            ("kept_bytes", .number(transformedBodies.bytes)),
        ])
    }

    private var storeJSON: JSONText {
        .object([
            ("path", .string(process.storePath)), ("entries", .number(store.entries)), ("bytes", .number(store.bytes)),
            ("limit", .number(process.storeLimit)), ("stored", .number(store.stored)), ("evicted", .number(store.evicted)),
            ("queued_operations", .number(store.queuedOperations)), ("queued_bytes", .number(store.queuedBytes)),
            ("refused_busy", .number(store.refusedBusy)), ("not_stored", .number(store.notStored)),
            ("unstored", .object(unstored.map { ($0.word, .number($0.count)) })),
            ("damaged_entries", .number(store.damagedEntries)), ("log_bytes", .number(store.logBytes)),
        ])
    }

    private var memoryJSON: JSONText {
        .object([
            ("entries", .number(store.memoryEntries)), ("bytes", .number(store.memoryBytes)),
            ("limit", .number(process.memoryLimit)),
            ("evicted", .number(store.memoryEvicted)), ("index_bytes", .number(store.indexBytes)),
            ("allocated", .number(allocator.given)), ("held", .number(allocator.held)),
            ("resident", residentBytes.map(JSONText.number) ?? .null),
        ])
    }

    private var auditLogJSON: JSONText {
        guard let log = process.auditLog else { return .null }
        return .object([
            ("path", .string(log.path)), ("seal", log.newestSeal.map { .string("\($0)") } ?? .null),
            ("lost", .count(log.lostCount)),
        ])
    }

    private static func json(_ warning: StatusSource.Warning) -> JSONText {
        .object([("at", .string(warning.at.rfc3339)), ("message", .string(printable(warning.message, limit: 4096)))])
    }

    // MARK: Text

    var text: String {
        var lines = [
            ("version", "Larder \(process.version), process \(process.process), up \(Self.duration(uptimeMilliseconds))"),
            ("listens on", process.listeners.joined(separator: ", ") + ", \(process.loops) loop\(process.loops == 1 ? "" : "s")"),
            ("mode", mode.word + (network.map { " (mode auto; \($0))" } ?? "")),
            ("settings", process.settingsFile() ?? "no file"),
            ("connections", "\(loops.connections) open, \(loops.tunnels) of them tunnels"),
            ("requests", requestsText),
            ("bytes", "\(EntryText.size(loops.sentBytes)) sent, \(EntryText.size(loops.savedBytes)) saved"),
            (
                "store",
                "\(process.storePath): \(store.entries) responses, \(Self.size(of: store.bytes, limit: process.storeLimit))"
            ),
            ("memory", "\(store.memoryEntries) responses, \(Self.size(of: store.memoryBytes, limit: process.memoryLimit))"),
            ("index", EntryText.size(UInt64(store.indexBytes))),
            ("log", EntryText.size(UInt64(store.logBytes))),
            (
                "allocator",
                "\(EntryText.size(UInt64(allocator.given))) in use, \(EntryText.size(UInt64(allocator.held))) reserved from the system"
            ),
        ]
        if loops.transformed + loops.untransformed + loops.failedTransforms > 0 {
            lines.append(
                (
                    "transforms",
                    "\(loops.transformed) applied, \(loops.untransformed) skipped, \(loops.failedTransforms) failed; \(transformedBodies.count) bodies cached, \(EntryText.size(UInt64(max(0, transformedBodies.bytes))))"
                ))
        }
        lines += policy.lines + parents.lines
        if !unstored.isEmpty {
            let parts = unstored.map { "\($0.word) \($0.count)" }.joined(separator: ", ")
            lines.append(("not stored", "\(unstored.reduce(0) { $0 + $1.count }): \(parts)"))
        }
        if let residentBytes { lines.append(("resident", EntryText.size(UInt64(residentBytes)))) }
        let dropped = process.droppedLines()
        if dropped > 0 { lines.append(("access log", "\(dropped) lines dropped")) }
        if let log = process.auditLog {
            let lost = log.lostCount
            lines.append(
                (
                    "audit log",
                    log.path + (log.newestSeal.map { ", newest seal \($0)" } ?? ", not sealed yet")
                        + (lost > 0 ? ", \(lost) events lost" : "")
                ))
        }
        for warning in warnings { lines.append(("warning", "\(warning.at.rfc3339) \(printable(warning.message, limit: 4096))")) }
        return lines.map { Self.padded($0.0) + printable($0.1, limit: 8192) + "\n" }.joined()
    }

    private var requestsText: String {
        let share = loops.requests == 0 ? "" : ", \(loops.hits) hits (\(loops.hits * 100 / loops.requests) %)"
        let parts = outcomes.map { "\($0.word) \($0.count)" }.joined(separator: ", ")
        return "\(loops.requests)\(share)" + (parts.isEmpty ? "" : ": \(parts)")
    }

    private static func padded(_ name: String) -> String {
        name + String(repeating: " ", count: max(1, 13 - name.count))
    }

    private static func size(of bytes: Int, limit: Int) -> String {
        "\(EntryText.size(UInt64(max(0, bytes)))) of \(EntryText.size(UInt64(max(0, limit))))"
    }

    private static func duration(_ milliseconds: Int64) -> String {
        let seconds = milliseconds / 1000
        let parts = [(seconds / 86_400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")]
        let first = parts.firstIndex { $0.0 > 0 } ?? 3
        return parts[first...].prefix(2).map { "\($0.0)\($0.1)" }.joined(separator: " ")
    }
}
