import Glibc
import Metrics
import ParentSelection
import ProxyCore
import ProxyServer
import ResponseStore

/// The metrics of this process at one moment, as families. docs/operations.md lists them.
struct MetricsReport {
    let process: StatusSource
    let mode: ExchangeContext.Mode
    let loops: LoopStatistics
    let metrics: MetricsSnapshot
    let store: StoreStatistics
    let approvals: (waiting: Int, endings: [Approvals.Ending: UInt64])
    /// The ways that lead through parents.
    let parentGroups: [(way: String, state: ParentGroupState)]

    var families: [MetricFamily] {
        processFamilies + requestFamilies + upstreamFamilies + parentFamilies + policyFamilies + cacheFamilies
            + (process.sharedTier?().metrics ?? [])
    }

    private static func count(_ number: Int) -> MetricFamily.Sample.Value { .count(UInt64(max(0, number))) }

    // MARK: The process

    private var processFamilies: [MetricFamily] {
        var build = MetricFamily("larder_build", .info, "The version of the running Larder.")
        build.add([("version", process.version)], .count(1))
        var active = MetricFamily("larder_mode", .gauge, "The label mode is the active mode; the value is always 1.")
        active.add([("mode", mode.word)], .count(1))
        let reload = process.latestReload()
        var families = [
            build, active,
            MetricFamily(
                "larder_config_reload_success", .gauge, "1 if the latest attempt to read the settings succeeded, else 0.",
                .count(reload.succeeded ? 1 : 0)),
            MetricFamily(
                "larder_config_last_reload_timestamp_seconds", .gauge,
                "Time of the latest attempt to read the settings, in seconds since the Unix epoch.",
                .number(Double(reload.at.milliseconds) / 1000)),
            MetricFamily(
                "process_start_time_seconds", .gauge, "Start time of this process, in seconds since the Unix epoch.",
                .number(Double(process.startedAt.milliseconds) / 1000)),
            MetricFamily("process_cpu_seconds", .counter, "CPU time of this process, in seconds.", .number(Self.cpuSeconds)),
            MetricFamily(
                "larder_access_log_dropped_lines", .counter, "Lines of the access log that could not be written in time.",
                .count(process.droppedLines())),
            MetricFamily(
                "larder_audit_log_lost_events", .counter, "Events of the audit log that could not be written.",
                .count(process.auditLog?.lostCount ?? 0)),
            MetricFamily(
                "larder_telemetry_dropped_items", .counter,
                "Spans and log messages that the OpenTelemetry collector did not get.",
                .count(process.undelivered())),
        ]
        if let resident = ProcessMemory.residentBytes() {
            families.append(
                MetricFamily(
                    "process_resident_memory_bytes", .gauge, "Resident memory of this process, in bytes.", Self.count(resident)))
        }
        return families
    }

    private static var cpuSeconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
        return Double(seconds) + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }

    // MARK: Requests

    private var requestFamilies: [MetricFamily] {
        var requests = MetricFamily(
            "larder_requests", .counter, "Requests by mode, method, status and outcome (the value of `cache` in the access log).")
        for (labels, count) in metrics.requestCounts {
            requests.add(labels.map(Self.labels) ?? Self.otherLabels, .count(count))
        }
        var durations = MetricFamily(
            "larder_request_duration_seconds", .histogram, "Seconds from the end of a request's head to the end of its response.")
        for outcome in DecisionTrace.Outcome.allCases {
            let histogram = metrics.durations(of: outcome)
            if histogram.count > 0 { durations.add([("cache", "\(outcome.word)")], .durations(histogram)) }
        }
        var errors = MetricFamily(
            "larder_errors", .counter, "Errors by code: error responses that Larder generated, and broken exchanges.")
        for (code, count) in metrics.errors.sorted(by: { $0.key < $1.key }) { errors.add([("code", code)], .count(count)) }
        var transforms = MetricFamily("larder_transforms", .counter, "Requests for which a rule requires a transform, by result.")
        for (result, count) in [
            ("applied", loops.transformed), ("skipped", loops.untransformed), ("failed", loops.failedTransforms),
        ] { transforms.add([("result", result)], .count(count)) }
        return [
            requests, durations, errors, transforms,
            MetricFamily("larder_sent_bytes", .counter, "Bytes of content sent to clients.", .count(loops.sentBytes)),
            MetricFamily(
                "larder_received_bytes", .counter, "Bytes of content received from clients.", .count(metrics.receivedBytes)),
            MetricFamily(
                "larder_cache_saved_bytes", .counter,
                "Bytes of content sent to clients from stored, shared or recorded responses.",
                .count(loops.savedBytes)),
            MetricFamily(
                "larder_collapsed_requests", .counter,
                "Requests that were served with the response to another request in flight.",
                .count(loops.count(of: .collapsed))),
            MetricFamily(
                "larder_replay_misses", .counter, "Requests without a recording, in a mode that only replays.",
                .count(metrics.replayMisses)),
            MetricFamily("larder_client_connections", .gauge, "Open client connections.", Self.count(loops.connections)),
            MetricFamily("larder_tunnels", .gauge, "Open tunnels.", Self.count(loops.tunnels)),
            handshakes,
        ]
    }

    private var handshakes: MetricFamily {
        var handshakes = MetricFamily(
            "larder_tls_handshakes", .counter, "TLS handshakes with clients and origins, by result.")
        for (side, result, count) in metrics.handshakes {
            handshakes.add([("side", side), ("result", result)], .count(count))
        }
        return handshakes
    }

    private static func labels(_ labels: RequestLabels) -> [(name: String, value: String)] {
        [
            ("mode", labels.mode.word), ("method", labels.method == .other ? "other" : "\(labels.method.name)"),
            ("status", "\(labels.status)"), ("cache", "\(labels.outcome.word)"),
        ]
    }

    /// The labels that all combinations beyond the limit share.
    private static let otherLabels = ["mode", "method", "status", "cache"].map { (name: $0, value: "other") }

    // MARK: Origins

    private var upstreamFamilies: [MetricFamily] {
        var durations = MetricFamily(
            "larder_upstream_duration_seconds", .histogram,
            "Seconds by phase: to connect to an origin, or from the start of an exchange to the first byte of the origin's response."
        )
        durations.add([("phase", "connect")], .durations(metrics.connecting))
        durations.add([("phase", "first_byte")], .durations(metrics.firstByte))
        var connections = MetricFamily("larder_upstream_connections", .gauge, "Open connections to origins.")
        connections.add([("state", "active")], Self.count(metrics.pools.connections - metrics.pools.idle))
        connections.add([("state", "idle")], Self.count(metrics.pools.idle))
        var pins = MetricFamily(
            "larder_pin_checks", .counter, "TLS handshakes with hosts that have report-only pins, by whether a pin matched.")
        for check in process.pinChecks() {
            pins.add([("host", check.host), ("result", "match")], .count(check.matched))
            pins.add([("host", check.host), ("result", "mismatch")], .count(check.mismatched))
        }
        return [
            MetricFamily(
                "larder_upstream_requests", .counter, "Requests to which an origin responded.", .count(metrics.upstreamRequests)),
            MetricFamily(
                "larder_upstream_reused_connections", .counter,
                "Requests to which an origin responded on a connection that an earlier request had opened.",
                .count(metrics.reusedConnections)),
            durations, connections,
            MetricFamily(
                "larder_upstream_waiting_requests", .gauge, "Requests that wait for a connection because a limit is reached.",
                Self.count(metrics.pools.waiting)),
            pins,
        ]
    }

    private var parentFamilies: [MetricFamily] {
        if parentGroups.isEmpty { return [] }
        var up = MetricFamily("larder_parent_up", .gauge, "1 if the parent is up, else 0.")
        var inFlight = MetricFamily("larder_parent_in_flight_requests", .gauge, "Requests that the parent handles now.")
        var requests = MetricFamily("larder_parent_requests", .counter, "Requests sent to the parent, and failed attempts.")
        var spilled = MetricFamily(
            "larder_parent_spilled_requests", .counter,
            "Requests sent to the parent although another parent is their first choice.")
        var failures = MetricFamily("larder_parent_failures", .counter, "Requests and probes that failed because of the parent.")
        for (way, state) in parentGroups {
            for member in state.members {
                let labels = [(name: "way", value: way), (name: "parent", value: member.name)]
                up.add(labels, .count(member.isUp ? 1 : 0))
                inFlight.add(labels, Self.count(member.inFlight))
                requests.add(labels, .count(member.requests))
                spilled.add(labels, .count(member.spilledRequests))
                failures.add(labels, .count(member.failures))
            }
        }
        return [up, inFlight, requests, spilled, failures]
    }

    // MARK: Policy

    private var policyFamilies: [MetricFamily] {
        var decisions = MetricFamily(
            "larder_policy_decisions", .counter,
            "Requests that the rules deny, or would deny in report mode. `rule` is empty if no rule allows the request.")
        let ordered = metrics.denials.sorted { ($0.key.rule, $0.key.reason) < ($1.key.rule, $1.key.reason) }
        for (denial, count) in ordered {
            decisions.add(
                [
                    ("rule", denial.rule), ("action", "deny"), ("enforce", denial.isReportOnly ? "report" : "deny"),
                    ("reason", denial.reason),
                ], .count(count))
        }
        var answers = MetricFamily(
            "larder_approvals", .counter, "Requests about which a rule asks an approver, by how the question ended.")
        for ending in Approvals.Ending.allCases {
            answers.add([("result", ending.rawValue)], .count(approvals.endings[ending] ?? 0))
        }
        return [
            decisions, answers,
            MetricFamily(
                "larder_approvals_waiting", .gauge, "Requests that wait for an approver.", Self.count(approvals.waiting)),
        ]
    }

    // MARK: The store

    private var cacheFamilies: [MetricFamily] {
        func tiers(
            _ name: String, _ kind: MetricFamily.Kind, _ help: String, memory: Int, disk: Int
        ) -> MetricFamily {
            var family = MetricFamily(name, kind, help)
            family.add([("tier", "memory")], Self.count(memory))
            family.add([("tier", "disk")], Self.count(disk))
            return family
        }
        var unstored = MetricFamily("larder_cache_unstored", .counter, "Responses that could not be stored, by reason.")
        for reason in UnstoredReason.allCases {
            if let count = store.unstored[reason] { unstored.add([("reason", "\(reason.word)")], Self.count(count)) }
        }
        return [
            tiers("larder_cache_entries", .gauge, "Stored responses.", memory: store.memoryEntries, disk: store.entries),
            tiers("larder_cache_bytes", .gauge, "Bytes of stored responses.", memory: store.memoryBytes, disk: store.bytes),
            tiers(
                "larder_cache_limit_bytes", .gauge, "The size in bytes above which Larder evicts stored responses.",
                memory: process.memoryLimit, disk: process.storeLimit),
            tiers(
                "larder_cache_evictions", .counter, "Stored responses that Larder removed to make space.",
                memory: store.memoryEvicted,
                disk: store.evicted),
            MetricFamily("larder_cache_stored", .counter, "Responses written to the disk.", Self.count(store.stored)),
            unstored,
            MetricFamily(
                "larder_cache_index_bytes", .gauge, "Memory in bytes that the index of stored responses uses.",
                Self.count(store.indexBytes)),
            MetricFamily(
                "larder_cache_log_bytes", .gauge, "Length of the store's write-ahead log, in bytes.", Self.count(store.logBytes)),
            MetricFamily(
                "larder_cache_queued_operations", .gauge, "Operations that wait for the store's writer.",
                Self.count(store.queuedOperations)),
            MetricFamily(
                "larder_cache_queued_bytes", .gauge, "Bytes that wait for the store's writer.", Self.count(store.queuedBytes)),
            MetricFamily(
                "larder_cache_damaged_entries", .counter, "Stored responses that Larder found damaged.",
                Self.count(store.damagedEntries)),
        ]
    }
}
