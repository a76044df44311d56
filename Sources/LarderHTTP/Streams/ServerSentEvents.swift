import HTTPMessage

/// An event of an event stream (the HTML standard, "Server-sent events").
public struct ServerSentEvent: Equatable, Sendable {
    /// The type; `message` if the server has named none.
    public let type: String
    /// The data; several data lines are joined by LF.
    public let data: String
    /// The last ID that the server has set so far; empty for none.
    public let lastEventID: String

    init(_ event: RawServerSentEvent) {
        type = event.type.isEmpty ? "message" : String(decoding: event.type, as: UTF8.self)
        data = String(decoding: event.data, as: UTF8.self)
        lastEventID = String(decoding: event.lastEventID, as: UTF8.self)
    }
}

/// How an event stream is read.
public struct ServerSentEventOptions: Equatable, Sendable {
    /// The wait before the next connection, until the server sets a different wait (`retry`). It doubles with each connection in a row that
    /// brings no event.
    public var retryDelay: Duration = .seconds(3)
    /// The longest wait, whatever the server sets.
    public var longestRetryDelay: Duration = .seconds(300)
    /// How many connections in a row may bring no event. One more fails with the last error.
    public var fruitlessConnections = 10
    /// The ID to begin with, as an earlier `ServerSentEvent.lastEventID`.
    public var lastEventID = ""
    /// Limits for each event.
    public var limits = StreamLimits()

    /// The default options.
    public init() {}
}

extension HTTPSession {
    /// The events of an event stream. The first call of the iterator's `next` connects. When the connection ends, the session waits and
    /// connects again, with the field Last-Event-ID.
    ///
    /// The sequence ends when the server answers with 204. It throws if the answer has another status than 200 or another type than
    /// `text/event-stream`, and for errors after which another connection is futile, such as a server that is not trusted. The session's
    /// `timeouts.idle` applies: servers send a comment from time to time to keep a connection. Only a GET request is sent again: with
    /// another method, the end of the response ends the sequence.
    public func events(_ request: SessionRequest, options: ServerSentEventOptions = ServerSentEventOptions()) -> ServerSentEvents
    {
        ServerSentEvents(session: self, request: request, options: options)
    }
}

/// The events of an event stream, over all connections. Each iterator has its own connections.
public struct ServerSentEvents: AsyncSequence, Sendable {
    public typealias Element = ServerSentEvent
    public typealias Failure = SessionError

    let session: HTTPSession
    let request: SessionRequest
    let options: ServerSentEventOptions

    /// Returns the events in order. Releasing it ends the connection.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let session: HTTPSession
        private let request: SessionRequest
        private let options: ServerSentEventOptions
        private var connection: BodyEvents.AsyncIterator?
        private var lastEventID: [UInt8]
        private var retryDelay: Duration
        /// How many connections in a row have brought no event.
        private var fruitlessCount = 0
        /// Whether the open connection has brought an event.
        private var isFruitful = false
        private var isOver = false

        fileprivate init(_ events: ServerSentEvents) {
            session = events.session
            request = events.request
            options = events.options
            lastEventID = Array(events.options.lastEventID.utf8)
            retryDelay = events.options.retryDelay
        }

        /// The next event; `nil` once the server has ended the stream.
        public mutating func next() async throws(SessionError) -> ServerSentEvent? {
            while !isOver {
                do throws(SessionError) {
                    if connection == nil { try await connect() }
                    if let event = try await connection?.next() {
                        isFruitful = true
                        note()
                        return event
                    }
                } catch {
                    try await disconnected(error)
                    continue
                }
                if isOver { return nil }
                if request.method != .get {
                    isOver = true
                    return nil
                }
                try await disconnected(SessionError(.incompleteResponse, "the event stream ended"))
            }
            return nil
        }

        /// Remembers what the next connection needs.
        private mutating func note() {
            guard let reader = connection?.reader else { return }
            lastEventID = reader.lastEventID
            if let milliseconds = reader.retryMilliseconds { retryDelay = .milliseconds(Int64(clamping: milliseconds)) }
        }

        private mutating func connect() async throws(SessionError) {
            var request = request
            if !request.fields.contains("Accept") { request.fields["Accept"] = "text/event-stream" }
            if !request.fields.contains("Cache-Control") { request.fields["Cache-Control"] = "no-store" }
            // An ID with a control character cannot be sent in a field.
            if !lastEventID.isEmpty, lastEventID.allSatisfy(ASCII.isFieldValueCharacter) {
                request.fields["Last-Event-ID"] = String(decoding: lastEventID, as: UTF8.self)
            }
            let response = try await session.open(request)
            let about = SessionError.Response(status: response.status, fields: response.fields, uri: response.uri)
            if response.status == 204 {
                isOver = true
                return
            }
            guard response.status == 200 else {
                throw SessionError(.unacceptableStatus, "\(response.status), not 200").about(about)
            }
            let type = response.fields["Content-Type"]?.prefix { $0 != ";" }.lowercased() ?? "none"
            guard type.filter({ $0 != " " && $0 != "\t" }) == "text/event-stream" else {
                throw SessionError(.unacceptableContentType, "\(type), not text/event-stream").about(about)
            }
            connection = BodyEvents.AsyncIterator(
                response.body, ServerSentEventReader(limit: options.limits.eventLength, lastEventID: lastEventID))
        }

        /// Waits before the next connection, or throws if there is none.
        private mutating func disconnected(_ error: SessionError) async throws(SessionError) {
            note()
            connection = nil
            fruitlessCount = isFruitful ? 0 : fruitlessCount + 1
            isFruitful = false
            guard request.method == .get, Self.isWorthAnother(error), fruitlessCount <= options.fruitlessConnections else {
                isOver = true
                throw error
            }
            var delay = Swift.min(retryDelay, options.longestRetryDelay)
            var doublings = fruitlessCount - 1
            while doublings > 0, delay > .zero, delay < options.longestRetryDelay {
                delay = Swift.min(delay * 2, options.longestRetryDelay)
                doublings -= 1
            }
            // The only error of `sleep` is that the task is cancelled.
            guard (try? await Task.sleep(for: delay)) != nil else {
                isOver = true
                throw SessionError(.cancelled)
            }
        }

        private static func isWorthAnother(_ error: SessionError) -> Bool {
            switch error.code {
            case .dnsError, .connectionRefused, .connectionFailed, .connectionTerminated, .offline, .timeout, .malformedResponse,
                .incompleteResponse, .queueFull, .outOfResources, .tlsHandshakeFailed, .proxyRefused:
                true
            default: false
            }
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
