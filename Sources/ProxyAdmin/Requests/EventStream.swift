import EventLoop
import HTTPMessage
import ProxyServer
import TextCoding

/// Sends new finished requests to one client as server-sent events. Confined to the admin thread.
///
/// Four times a second the stream asks the loops for the traces that are new since the last answer. So serving a request costs nothing more
/// while a page is open. The loops' rings of traces are the queue: while the client reads slowly, the stream does not ask. If more requests
/// have finished since then than one event holds, the event has the newest ones and the number of the others.
///
/// The events:
///
///     hello     the stream has begun; requests that finish later will come
///     requests  {"requests": […], "skipped": N}
///
/// A line with a comment comes after 15 seconds without an event, so that a client that has left is noticed.
final class EventStream: TimerHandler {
    private let query: TraceQuery
    private let exchange: AdminExchange
    private let server: ProxyServer
    private let ended: () -> Void
    private var timer: TimerID?
    private var seen: [Int]?
    /// What is to be sent next.
    private var output: [UInt8] = []
    private var lastOutput: MonotonicTime
    /// Whether the loops were asked and have not answered.
    private var isAsking = false
    /// Whether the client has taken all output.
    private var isDrained = false

    static let period = 250
    static let heartbeat = 15_000
    /// The maximum number of requests in an event.
    static let batchLimit = 200

    /// - Parameter ended: called once, when the client has left.
    init(_ query: TraceQuery, _ exchange: AdminExchange, _ server: ProxyServer, ended: @escaping () -> Void) {
        self.query = query
        self.exchange = exchange
        self.server = server
        self.ended = ended
        lastOutput = exchange.loop.now
    }

    func start() {
        timer = exchange.loop.makeTimer(self)
        exchange.stream(contentType: "text/event-stream", next: { self.nextPiece() }, closed: { self.stop() })
        ask()
    }

    private func stop() {
        if let timer { exchange.loop.removeTimer(timer) }
        timer = nil
        ended()
    }

    private func nextPiece() -> AdminPiece {
        if output.isEmpty {
            isDrained = true
            return .notYet
        }
        isDrained = false
        defer { output = [] }
        return .piece(output)
    }

    func deadlinePassed(_ timer: TimerID) {
        if isDrained, !isAsking { ask() }
        setTimer()
    }

    private func setTimer() { if let timer { exchange.loop.setTimer(timer, afterMilliseconds: Self.period) } }

    private func ask() {
        guard timer != nil else { return }
        isAsking = true
        let reply = exchange.loop.reply { (news: TraceNews) in self.take(news) }
        server.news(query, since: seen, limit: Self.batchLimit, reply)
    }

    private func take(_ news: TraceNews) {
        isAsking = false
        guard timer != nil else { return }
        let isFirst = seen == nil
        seen = news.seen
        if isFirst {
            send("event: hello\ndata: {}\n\n")
            setTimer()
        } else if !news.requests.isEmpty || news.skippedCount > 0 {
            let data = JSONText.object([
                ("requests", .array(news.requests.map { RequestRow(traced: $0).json })), ("skipped", .number(news.skippedCount)),
            ])
            send("event: requests\ndata: \(data.writtenInLine())\n\n")
        } else if exchange.loop.now.milliseconds(since: lastOutput) >= Self.heartbeat {
            send(": nothing new\n\n")
        }
    }

    private func send(_ text: String) {
        output += text.utf8
        lastOutput = exchange.loop.now
        exchange.resume()
    }
}
