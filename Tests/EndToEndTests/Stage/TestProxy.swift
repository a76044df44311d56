import AccessLog
import Foundation
import HTTPMessage
import ProxyPolicy
import ProxyServer
import Recordings
import ResponseStore
import SharedTier
import Synchronization
import TestSupport
import UpstreamTransport

@testable import LarderCLI
@testable import LarderSettings

/// The real server in this process, on a port of its own, with settings in the form of a settings file.
final class TestProxy {
    let server: ProxyServer
    let store: ResponseStore
    let log: AccessLog
    /// The shared tier; `nil` without an engine.
    let tier: SharedTier?
    private let binding: TierBinding
    /// How far `pass` has moved the clock, in milliseconds.
    private let tierAdvance = ClockAdvance()
    /// The folder of the store and the access log. It is removed with the proxy.
    let folder: TestFolder
    private let storePath: String
    private let budgets: UpstreamBudgets
    /// The recording that the proxy writes. It also writes log lines.
    private var recording: RecordingFile?
    private var isStopped = false

    var port: UInt16 { server.addresses[0].port }
    var logPath: String { "\(folder.path)/access.log" }

    /// - Parameters:
    ///   - yaml: the settings, as in a file, without `listen` and `store.path`.
    ///   - shadow: the settings of the shadow policy.
    ///   - storePath: `nil` stands for a file in the proxy's folder.
    ///   - queueLength: how many requests may wait for a connection to an origin.
    ///   - change: changes that a file cannot express, such as times below one second.
    init(
        _ yaml: String = "", shadow: String? = nil, loops: Int = 1, host: String = "127.0.0.1", storePath: String? = ":memory:",
        folder: TestFolder? = nil, queueLength: Int = UpstreamBudgets.usualQueueLength,
        store adjust: (inout StoreConfiguration) -> Void = { _ in },
        engine: TierConfiguration? = nil, warn: @escaping @Sendable (String) -> Void = { _ in },
        change: (inout ServerSettings) -> Void = { _ in }
    ) throws {
        self.folder = try folder ?? TestFolder()
        self.storePath = storePath ?? "\(self.folder.path)/store.sqlite"
        let settings = try Self.settings(yaml)
        var serving = ServerAssembly.serverSettings(settings)
        change(&serving)
        recording = serving.recording
        var configuration = ServerAssembly.store(settings, path: self.storePath) { _ in }
        // A busy machine must not change what the store accepts.
        configuration.limits.queuedMilliseconds = 60_000
        configuration.limits.stalledMilliseconds = 60_000
        adjust(&configuration)
        store = try ResponseStore(configuration)
        let logFormat = AccessLog.Format(rawValue: settings.log.access.format.rawValue) ?? .ndjson
        log = try AccessLog(
            .init(path: "\(self.folder.path)/access.log", format: logFormat, includesQuery: settings.log.access.includesQuery))
        budgets = ServerAssembly.budgets(settings, queueLength: queueLength)
        let advance = tierAdvance
        binding = TierBinding(
            storePath: storePath == ":memory:" ? nil : self.storePath,
            now: { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000) + advance.value) },
            warn: warn)
        tier = try engine.map { [binding, store] engine in
            try SharedTier(engine, coder: { PlainEntries() }, store: store, hooks: binding.hooks)
        }
        server = try ProxyServer(
            serving, rules: settings.policy, shadow: shadow.map { try Self.settings($0).policy }, store: store, tier: tier,
            sockets: [ListeningSocket(host: host, port: 0)],
            loops: loops, budgets: budgets, accessLog: log)
        if tier != nil { binding.bind(server) }
    }

    deinit { stop() }

    /// Stops everything and waits. After that the log is complete.
    func stop() {
        if isStopped { return }
        isStopped = true
        binding.bind(nil)
        tier?.stop()
        server.stop()
        store.shutdown()
        if let recording {
            let isCaughtUp = DispatchSemaphore(value: 0)
            recording.whenCaughtUp { isCaughtUp.signal() }
            isCaughtUp.wait()
        }
        log.close()
    }

    func reload(_ yaml: String, change: (inout ServerSettings) -> Void = { _ in }) throws {
        let settings = try Self.settings(yaml)
        var serving = ServerAssembly.serverSettings(settings)
        change(&serving)
        server.reload(serving, rules: settings.policy, shadow: settings.shadow.loaded)
    }

    /// Moves the clock of response ages ahead.
    func pass(seconds: Int64) {
        tierAdvance.add(seconds * 1000)
        let passed = DispatchSemaphore(value: 0)
        server.advanceWallClock(milliseconds: seconds * 1000) { passed.signal() }
        passed.wait()
    }

    /// Stops the proxy and returns the lines of the access log.
    func logLines() throws -> [String] {
        stop()
        return try String(contentsOfFile: logPath, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    static func settings(_ yaml: String) throws -> LarderSettings {
        let root = try YAMLReader.read(yaml)
        switch SettingsReader.read([SettingsLayer(name: "test.yaml", root: root)]) {
        case .settings(var settings):
            // The origins of tests are on this machine.
            if settings.egress.addresses.private == nil { settings.egress.addresses.private = .allow }
            return settings
        case .problems(let problems): throw SettingsRefused(problems: problems.map(\.description))
        }
    }
}

private final class ClockAdvance: Sendable {
    private let milliseconds = Atomic<Int64>(0)
    func add(_ count: Int64) { milliseconds.add(count, ordering: .relaxed) }
    var value: Int64 { milliseconds.load(ordering: .relaxed) }
}

struct SettingsRefused: Error {
    let problems: [String]
}

/// A folder that is removed with the test.
final class TestFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "larder-e2e-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }  // anything left is in the temporary folder
}
