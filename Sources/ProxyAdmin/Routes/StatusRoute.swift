import AuditLog
import EventLoop
import HTTPMessage
import Metrics
import ProxyServer
import ResponseStore
import TextCoding

/// `GET /v1/status`: the state and the statistics of this Larder, as JSON or as text.
package enum StatusRoute {
    package static func route(of process: StatusSource, server: ProxyServer, store: ResponseStore) -> AdminRoute {
        AdminRoute(.get, "/v1/status", .read) { request, exchange in
            let wantsText = request.wantsText
            let reply = exchange.loop.reply { (loops: LoopStatistics) in
                let report = StatusReport(
                    process: process, now: Timestamp(milliseconds: exchange.loop.wallClockMilliseconds), mode: server.mode,
                    network: server.networkStatus, loops: loops, store: store.statistics,
                    transformedBodies: server.transformedBodies, policy: PolicyStatus(of: server),
                    parents: ParentStatus(groups: server.parentGroups))
                if wantsText { exchange.answer(text: report.text) } else { exchange.answer(json: report.json) }
            }
            server.statistics(reply)
        }
    }
}

/// The parts of the status that only the caller knows: about the process, its settings and its warnings.
package struct StatusSource: Sendable {
    /// The state of the shared tier, as its owner describes it.
    package struct SharedTierReport: Sendable {
        package let json: JSONText
        package let metrics: [MetricFamily]

        package init(json: JSONText, metrics: [MetricFamily]) {
            self.json = json
            self.metrics = metrics
        }
    }

    package struct Warning: Sendable {
        package let at: Timestamp
        package let message: String

        package init(at: Timestamp, message: String) {
            self.at = at
            self.message = message
        }
    }

    package var version: String
    package var process: Int32
    package var startedAt: Timestamp
    /// The file that the latest reload read; `nil` if there is no settings file.
    package var settingsFile: @Sendable () -> String?
    package var listeners: [String]
    package var loops: Int
    package var storePath: String
    package var storeLimit: Int
    package var memoryLimit: Int
    /// Lines that the access log dropped.
    package var droppedLines: @Sendable () -> UInt64
    /// The number of spans and log messages that the collector did not get.
    package var undelivered: @Sendable () -> UInt64 = { 0 }
    /// The shared tier; `nil` if there is none.
    package var sharedTier: (@Sendable () -> SharedTierReport)?
    /// The audit log; `nil` if there is none.
    package var auditLog: AuditLog?
    /// The latest attempt to read the settings: the start, until the first reload.
    package var latestReload: @Sendable () -> (at: Timestamp, succeeded: Bool)
    /// Why this Larder is not ready for further requests; `nil` if it is ready.
    package var unreadyReason: @Sendable () -> String?
    /// The recent warnings, newest first.
    package var warnings: @Sendable () -> [Warning]
    /// Handshakes with hosts whose pins are only reported: the host with its port, and how many had a matching pin or none.
    package var pinChecks: @Sendable () -> [(host: String, matched: UInt64, mismatched: UInt64)]

    package init(
        version: String, process: Int32, startedAt: Timestamp, settingsFile: @escaping @Sendable () -> String?,
        listeners: [String],
        loops: Int, storePath: String, storeLimit: Int, memoryLimit: Int, droppedLines: @escaping @Sendable () -> UInt64,
        latestReload: @escaping @Sendable () -> (at: Timestamp, succeeded: Bool),
        unreadyReason: @escaping @Sendable () -> String?, warnings: @escaping @Sendable () -> [Warning],
        pinChecks: @escaping @Sendable () -> [(host: String, matched: UInt64, mismatched: UInt64)]
    ) {
        self.version = version
        self.process = process
        self.startedAt = startedAt
        self.settingsFile = settingsFile
        self.listeners = listeners
        self.loops = loops
        self.storePath = storePath
        self.storeLimit = storeLimit
        self.memoryLimit = memoryLimit
        self.droppedLines = droppedLines
        self.latestReload = latestReload
        self.unreadyReason = unreadyReason
        self.warnings = warnings
        self.pinChecks = pinChecks
    }
}
