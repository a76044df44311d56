import LarderHTTP

/// Sends one reply in virtual time, within the timeouts of its request.
struct ReplySender {
    private let exchange: SubstituteExchange
    private let clock: VirtualClock
    /// The time since the exchange began.
    private var elapsed: Duration = .zero

    init(_ exchange: SubstituteExchange, _ clock: VirtualClock) {
        self.exchange = exchange
        self.clock = clock
    }

    mutating func send(_ reply: ScriptedReply) async {
        guard await pass(reply.delay, within: exchange.timeouts.firstByte, .firstByte) else { return }
        if let failure = reply.failure { return exchange.fail(failure) }
        exchange.respond(reply.status, fields(of: reply), length: reply.trailers.isEmpty ? UInt64(reply.body.count) : nil)
        let end = min(reply.cutOffset ?? .max, reply.body.count)
        if exchange.hasContent(reply.status) {
            guard await sendBody(reply.body[..<end], reply.pauses) else { return }
            if reply.cutOffset != nil { return exchange.fail(SessionError(.incompleteResponse, "incomplete_body")) }
        }
        exchange.finish(trailers: reply.trailers)
    }

    /// - Returns: `false` if the exchange has ended.
    private mutating func sendBody(_ body: ArraySlice<UInt8>, _ pauses: [(offset: Int, duration: Duration)]) async -> Bool {
        var rest = body
        for (offset, duration) in pauses.sorted(by: { $0.offset < $1.offset }) where offset <= body.endIndex {
            guard await deliver(rest[..<offset]) else { return false }
            rest = rest[offset...]
            guard await pass(duration, within: exchange.timeouts.idle, .idle) else { return false }
        }
        return await deliver(rest)
    }

    private func deliver(_ octets: ArraySlice<UInt8>) async -> Bool {
        octets.isEmpty ? true : await exchange.deliver(Array(octets))
    }

    /// Waits, but no longer than the timeouts allow.
    /// - Returns: `false` if the exchange has ended.
    private mutating func pass(_ duration: Duration, within limit: Duration, _ phase: SessionError.Phase) async -> Bool {
        var (allowed, ending) = (duration, SessionError.Phase?.none)
        if limit > .zero, limit < allowed { (allowed, ending) = (limit, phase) }
        let total = exchange.timeouts.total
        if total > .zero, total - elapsed < allowed { (allowed, ending) = (total - elapsed, .total) }
        if allowed > .zero {
            do { try await clock.sleep(for: allowed) } catch { return false }  // The exchange was cancelled.
            elapsed += allowed
        }
        guard let ending else { return true }
        exchange.fail(.timedOut(ending))
        return false
    }

    private func fields(of reply: ScriptedReply) -> SessionFields {
        var fields = reply.fields
        if reply.trailers.isEmpty, reply.status != 204, reply.status != 304, !fields.contains("Content-Length"),
            !fields.contains("Transfer-Encoding")
        {
            fields.append("Content-Length", "\(reply.body.count)")
        }
        return fields
    }
}
