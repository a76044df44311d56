import EventLoop
import Foundation
import HTTPMessage
import LarderHTTP
import LarderSettings
import Logging
import ProxyAdmin
import ProxyServer
import TextCoding

/// Sends the questions of rules with `ask` to the URL in `approvals.webhook`, by a session of its own: no rule, store or recording sees
/// these requests. No client waits for the webhook. Questions beyond the queue are left out, and so are questions that have ended.
final class ApprovalWebhook: Sendable {
    private let queue: AsyncStream<HeldRequest>.Continuation

    /// The maximum number of questions that wait to be sent.
    private static let queueLength = 256
    /// The maximum time for one question.
    private static let requestLimit = Duration.seconds(5)
    private static let warningInterval = Duration.seconds(60)

    init(_ server: ProxyServer, _ logger: Logger, url: String) throws {
        let (stream, queue) = AsyncStream.makeStream(
            of: HeldRequest.self, bufferingPolicy: .bufferingOldest(Self.queueLength))
        self.queue = queue
        var configuration = SessionConfiguration()
        configuration.retries = .never
        // Questions go to the named server and to no other.
        configuration.redirects = .deny
        configuration.timeouts.total = Self.requestLimit
        let session = try HTTPSession(configuration: configuration)
        Task {
            var nextWarning: ContinuousClock.Instant?
            for await question in stream {
                if server.approvals.waiting(question.id) == nil { continue }
                guard let problem = await Self.send(question, to: url, by: session) else { continue }
                if let nextWarning, ContinuousClock.now < nextWarning { continue }
                nextWarning = .now + Self.warningInterval
                logger.warning("approvals.webhook did not accept a question (\(problem)); reported at most once a minute")
            }
            await session.shutdown(.cancel)
        }
        server.approvals.tell { queue.yield($0) }
    }

    /// - Returns: what is wrong; `nil` if the server accepted the question. It does not contain the URL, which may hold a token.
    private static func send(_ question: HeldRequest, to url: String, by session: HTTPSession) async -> String? {
        let body = JSONText.object([("approval", question.json)]).writtenInLine() + "\n"
        let request = SessionRequest(.post, url, fields: ["Content-Type": "application/json"], body: .octets(Array(body.utf8)))
        do throws(SessionError) {
            let response = try await session.send(request)
            return (200..<300).contains(response.status) ? nil : "status \(response.status)"
        } catch {
            return error.code.rawValue
        }
    }

    func close() { queue.finish() }
}
