import ArgumentParser
import Dispatch
import EventLoop
import Foundation
import HTTPMessage
import LarderHTTP
import LarderSettings
import Logging
import Synchronization
import Telemetry
import TextCoding

/// Sends traces and log messages to an OpenTelemetry collector, by a session of its own: no rule, store or recording sees these requests.
final class TelemetryExport: Sendable {
    let telemetry: Telemetry
    private let listener: LogListener
    private let ended = DispatchSemaphore(value: 0)

    /// How long the stop waits for the last batches.
    private static let closingSeconds = 2
    /// The maximum time for one batch.
    private static let requestLimit = Duration.seconds(10)
    private static let warningInterval = Duration.seconds(60)

    /// - Returns: `nil` if the settings name no collector.
    /// - Throws: an exit code, after reporting the problem.
    static func start(_ settings: LarderSettings, _ log: ProcessLog) throws(ExitCode) -> TelemetryExport? {
        guard let endpoint = settings.otlp.endpoint else { return nil }
        do {
            return try TelemetryExport(endpoint, service: settings.otlp.service, log)
        } catch {
            log.logger.error("cannot send traces to otlp.endpoint: \(error)")
            throw ExitCode.failure
        }
    }

    private init(_ endpoint: String, service: String, _ log: ProcessLog) throws {
        telemetry = try Telemetry(
            resource: [
                ("service.name", service), ("service.version", Version.number), ("host.name", ProcessInfo.processInfo.hostName),
                ("process.pid", "\(getpid())"),
            ], version: Version.number)
        listener = log.listener
        var configuration = SessionConfiguration()
        configuration.retries = .never
        // Spans go to the named collector and to no other server.
        configuration.redirects = .deny
        configuration.timeouts.total = Self.requestLimit
        let session = try HTTPSession(configuration: configuration)
        let telemetry = telemetry
        listener.set { level, message in telemetry.note(LogMessage(level, message)) }
        let logger = log.logger
        Task {
            var nextWarning: ContinuousClock.Instant?
            var known: UInt64 = 0
            for await batch in telemetry.batches {
                var problem = await Self.send(batch, to: endpoint, by: session)
                if problem != nil {
                    telemetry.noteUndelivered(batch.itemCount)
                } else if telemetry.droppedCount > known {
                    problem = "too slow"
                }
                known = telemetry.droppedCount
                guard let problem else { continue }
                if let nextWarning, ContinuousClock.now < nextWarning { continue }
                nextWarning = .now + Self.warningInterval
                logger.warning(
                    "the collector \(printable(endpoint, limit: 256)) did not accept traces or logs (\(problem)): they are lost, \(known) so far; reported at most once a minute"
                )
            }
            await session.shutdown(.cancel)
            ended.signal()
        }
    }

    /// - Returns: what is wrong; `nil` if the collector accepted the batch.
    private static func send(_ batch: Telemetry.Batch, to endpoint: String, by session: HTTPSession) async -> String? {
        let request = SessionRequest(
            .post, endpoint + batch.path, fields: ["Content-Type": "application/json"], body: .octets(batch.body))
        do throws(SessionError) {
            let response = try await session.send(request)
            return (200..<300).contains(response.status) ? nil : "status \(response.status)"
        } catch {
            return error.code.rawValue
        }
    }

    /// Sends the last batches, within a time limit. Call it once.
    func close() {
        listener.set(nil)
        telemetry.close()
        _ = ended.wait(timeout: .now() + .seconds(Self.closingSeconds))
    }
}

extension LogMessage {
    fileprivate init(_ level: Logger.Level, _ text: String) {
        let severity =
            switch level {
            case .trace: 1
            case .debug: 5
            case .info: 9
            case .notice: 10
            case .warning: 13
            case .error: 17
            case .critical: 21
            }
        self.init(
            severity: severity, level: level.rawValue, text: printable(text, limit: 4096),
            time: UInt64(Timestamp.now.milliseconds) * 1_000_000)
    }
}
