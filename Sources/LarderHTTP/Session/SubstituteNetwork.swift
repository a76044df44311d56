import EventLoop
import HTTPMessage
import HTTPWire
import UpstreamTransport

/// Carries out a session's exchanges instead of its own connections, without sockets and in a time of its own. The module
/// LarderTesting scripts one for tests.
///
/// The session does everything else as usual: limits, interceptors, cookies, credentials, redirects, retries, the cache and content
/// codings. It verifies no server, because there is none.
package protocol SubstituteNetwork: Sendable {
    /// Responds to one exchange, or fails it. The task is cancelled when the exchange ends for another reason.
    func carryOut(_ exchange: SubstituteExchange) async

    /// Waits before a retry.
    /// - Returns: `false` if the task was cancelled first.
    func sleep(for duration: Duration) async -> Bool
}

/// One exchange of a session with a `SubstituteNetwork`.
package struct SubstituteExchange: Sendable {
    package let method: HTTPMethod
    package let uri: TargetURI
    /// The fields as the session sends them, without those that describe the connection and the length.
    package let fields: SessionFields
    package let content: [UInt8]
    package let timeouts: SessionTimeouts
    private let link: ResponseChannel

    // MARK: For the network

    /// Sends the head of the response.
    /// - Parameters:
    ///   - status: a number of three digits.
    ///   - length: the length of the content; `nil` if it is not known in advance.
    package func respond(_ status: Int, _ fields: SessionFields, length: UInt64?) {
        let framing: BodyFraming = hasContent(status) ? length.map { .length($0) } ?? .chunked : .none
        link.received(
            ResponseChannel.Head(
                status: Status(UInt16(status)), fields: fields.fields, framing: framing, metrics: ExchangeMetrics()))
    }

    /// Whether a response with this status has content (RFC 9110 §6.4.1).
    package func hasContent(_ status: Int) -> Bool { method != .head && status != 204 && status != 304 }

    /// Sends a piece of the content, and waits until the caller wants more.
    /// - Returns: `false` if the exchange has ended.
    package func deliver(_ octets: [UInt8]) async -> Bool { await link.feed(octets) }

    /// Ends a complete response.
    package func finish(trailers: SessionFields = SessionFields()) { link.ended(nil, trailers: trailers.fields) }

    /// Ends the exchange with an error, before or after a part of the response.
    package func fail(_ error: SessionError) { link.ended(.source(error)) }

    // MARK: For the session

    static func begin(
        on network: any SubstituteNetwork, _ request: PreparedRequest, _ content: PreparedRequest.Content,
        over link: ResponseChannel
    ) {
        link.beginElsewhere()
        link.transfer.passSuspension(to: link)
        let task = Task {
            guard let octets = await collected(content, over: link) else { return }
            let exchange = SubstituteExchange(
                method: request.method, uri: request.uri, fields: request.fields, content: octets, timeouts: request.timeouts,
                link: link)
            await network.carryOut(exchange)
            link.ended(.cancelled)  // No effect if the network has ended the exchange, as it must.
        }
        link.whenEnded { _ in task.cancel() }
    }

    /// - Returns: the whole content of a request; `nil` if it cannot be read.
    private static func collected(_ content: PreparedRequest.Content, over link: ResponseChannel) async -> [UInt8]? {
        guard let source = content.source else {
            link.noteSent(content.octets.count)
            return content.octets
        }
        var octets: [UInt8] = []
        do {
            let isWhole = try await source.pass { piece in
                link.noteSent(piece.count)
                octets += piece
                return !link.hasEnded
            }
            return isWhole ? octets : nil
        } catch {
            link.ended(.source(error))
            return nil
        }
    }
}

extension SessionError {
    /// The error of a transfer whose phase timed out.
    package static func timedOut(_ phase: Phase) -> SessionError {
        switch phase {
        case .queue: SessionError(transport: .timedOut(.queue))
        case .nameLookUp: SessionError(transport: .timedOut(.nameLookUp))
        case .connect: SessionError(transport: .timedOut(.connect))
        case .sending: SessionError(transport: .timedOut(.sending))
        case .firstByte: SessionError(transport: .timedOut(.firstByte))
        case .idle: SessionError(transport: .timedOut(.idle))
        case .total: SessionError(transport: .timedOut(.total))
        }
    }
}

extension HTTPSession {
    /// Waits before a retry, in the time of the session's network.
    /// - Returns: `false` if the transfer was cancelled or the session closed first.
    func wait(_ delay: Duration, for transfer: Transfer) async -> Bool {
        guard let network = configuration.network else {
            return await loops.sleep(milliseconds: delay.inMilliseconds, for: transfer)
        }
        let wakeup = Wakeup<Bool>()
        let sleeping = Task { wakeup.send(await network.sleep(for: delay)) }
        let isWhole = await transfer.awaiting(wakeup, ifCancelled: false)
        if !isWhole { sleeping.cancel() }
        return isWhole
    }
}
