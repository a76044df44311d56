import EventLoop
public import LarderHTTP
import ServerTrust

/// A network for tests: it answers a session's requests from a script, without sockets and in virtual time.
///
/// Each request gets the reply of the first entry that means it and has replies left, in the order in which the entries were added, or
/// else the reply of a recording. A request without a reply fails with `host_not_allowed`, and `check()` reports it.
public final class ScriptedNetwork: Sendable {
    /// Makes the reply to a request.
    public typealias Responder = @Sendable (SentRequest) async -> ScriptedReply

    private enum Replies: Sendable {
        case always(ScriptedReply)
        case list([ScriptedReply])
        case made(Responder)
    }

    private struct Entry: Sendable {
        let pattern: RequestPattern
        let replies: Replies
        var used = 0

        var isExhausted: Bool {
            if case .list(let replies) = replies { return used >= replies.count }
            return false
        }

        /// What is left of the entry's replies; `nil` if nothing is.
        var left: String? {
            switch replies {
            case .list(let replies): used < replies.count ? "\(pattern) (\(replies.count - used) of \(replies.count))" : nil
            case .always, .made: used == 0 ? "\(pattern)" : nil
            }
        }
    }

    private struct State: Sendable {
        var entries: [Entry] = []
        var requests: [SentRequest] = []
        var unexpected: [SentRequest] = []
        var recordings: [RecordedReplies] = []
    }

    /// The clock of delays, and of waits before retries.
    public let clock: VirtualClock
    private let state = Guarded(State())

    /// A network with an empty script.
    public init(clock: VirtualClock = VirtualClock()) { self.clock = clock }

    // MARK: The script

    /// Every such request gets this reply.
    /// - Parameters:
    ///   - method: the method; `nil` for any.
    ///   - target: a URL, or a path, which then means every origin. A target without a query means every query. A star at the end means
    ///     every continuation, such as `/items/*`.
    ///   - reply: the reply.
    public func on(_ method: HTTPMethod? = .get, _ target: String, reply: ScriptedReply) {
        add(RequestPattern(method, target), .always(reply))
    }

    /// Such requests get these replies, one each, in this order.
    public func on(_ method: HTTPMethod? = .get, _ target: String, replies: [ScriptedReply]) {
        add(RequestPattern(method, target), .list(replies))
    }

    /// A closure makes the reply to each such request.
    public func on(_ method: HTTPMethod? = .get, _ target: String, respond: @escaping Responder) {
        add(RequestPattern(method, target), .made(respond))
    }

    /// A closure makes the reply to each request that another closure accepts.
    public func on(where isMeant: @escaping @Sendable (SentRequest) -> Bool, respond: @escaping Responder) {
        add(RequestPattern(isMeant), .made(respond))
    }

    /// Requests that no entry means get the responses of a recording, a file that `larder record` has made.
    /// - Throws: the file is not a recording, or is damaged.
    public func replay(_ path: String) throws(ScriptFailure) {
        let replies = try RecordedReplies(path)
        state.withLock { $0.recordings.append(replies) }
    }

    private func add(_ pattern: RequestPattern, _ replies: Replies) {
        state.withLock { $0.entries.append(Entry(pattern: pattern, replies: replies)) }
    }

    // MARK: The requests

    /// All requests that were sent, in their order.
    public var requests: [SentRequest] { state.withLock { $0.requests } }

    /// The requests with this method (`nil`: any) and target, in the forms of `on(_:_:reply:)`.
    public func requests(_ method: HTTPMethod? = nil, to target: String) -> [SentRequest] {
        let pattern = RequestPattern(method, target)
        return requests.filter { pattern.includes($0) }
    }

    /// The requests that had no reply.
    public var unexpectedRequests: [SentRequest] { state.withLock { $0.unexpected } }

    /// Checks that every request had a reply, and that every reply was used.
    /// - Parameter allowsUnused: whether replies may be left.
    public func check(allowsUnused: Bool = false) throws(ScriptFailure) {
        let (unexpected, left) = state.withLock { ($0.unexpected, $0.entries.compactMap(\.left)) }
        var sentences: [String] = []
        if !unexpected.isEmpty {
            sentences.append("Requests without a scripted reply: \(Self.list(unexpected)). \(scripted)")
        }
        if !allowsUnused, !left.isEmpty { sentences.append("Replies that no request used: \(Self.list(left)).") }
        if !sentences.isEmpty { throw ScriptFailure(description: sentences.joined(separator: " ")) }
    }

    /// Checks how often a request was sent.
    /// - Returns: those requests.
    @discardableResult
    public func check(
        _ method: HTTPMethod? = nil, _ target: String, times: Int = 1
    ) throws(ScriptFailure) -> [SentRequest] {
        let found = requests(method, to: target)
        if found.count == times { return found }
        let all = requests
        let sent = all.isEmpty ? "No request was sent." : "All requests: \(Self.list(all))."
        throw ScriptFailure(
            description: "\(RequestPattern(method, target)) was sent \(found.count) times, and \(times) were expected. \(sent)")
    }

    private var scripted: String {
        let patterns = state.withLock { $0.entries.map(\.pattern.description) }
        return patterns.isEmpty ? "The script has no entry." : "The script has \(Self.list(patterns))."
    }

    private static func list(_ items: [some CustomStringConvertible]) -> String {
        items.map { "\($0)" }.joined(separator: ", ")
    }
}

extension ScriptedNetwork: SubstituteNetwork {
    package func carryOut(_ exchange: SubstituteExchange) async {
        let request = SentRequest(
            method: exchange.method, uri: exchange.uri, fields: exchange.fields, body: exchange.content, time: clock.now)
        var sender = ReplySender(exchange, clock)
        await sender.send(await reply(to: request))
    }

    package func sleep(for duration: Duration) async -> Bool {
        do { try await clock.sleep(for: duration) } catch { return false }  // The transfer was cancelled.
        return true
    }

    private func reply(to request: SentRequest) async -> ScriptedReply {
        let found: (Replies, Int)? = state.withLock { state in
            state.requests.append(request)
            let place = state.entries.firstIndex { !$0.isExhausted && $0.pattern.includes(request) }
            guard let place else { return nil }
            defer { state.entries[place].used += 1 }
            return (state.entries[place].replies, state.entries[place].used)
        }
        switch found {
        case (.always(let reply), _)?: return reply
        case (.list(let replies), let used)?: return replies[used]
        case (.made(let respond), _)?: return await respond(request)
        case nil: break
        }
        for recording in state.withLock({ $0.recordings }) {
            if let reply = recording.reply(to: request) { return reply }
        }
        state.withLock { $0.unexpected.append(request) }
        return .failure(.hostNotAllowed, "no reply is scripted for \(request). \(scripted)")
    }
}

extension SessionConfiguration {
    /// Sends all requests to a scripted network. The session then opens no connection and verifies no server.
    public mutating func send(to network: ScriptedNetwork) { self.network = network }
}

extension HTTPSession {
    /// A session that sends all requests to a scripted network. It opens no connection, reads no CA certificates and verifies no server.
    public convenience init(
        _ network: ScriptedNetwork, configuration: SessionConfiguration = SessionConfiguration()
    ) throws(SessionError) {
        var configuration = configuration
        configuration.send(to: network)
        // Policies without entries have no fault.
        guard let policies = try? TrustPolicySet([], fallback: .deny) else { preconditionFailure("there are no entries") }
        try self.init(configuration: configuration, trust: .policies(policies))
    }
}
