import EventLoop
import TestSupport

/// An origin with one body. It obeys Range and If-Range, and ends its responses early where the plan says so.
final class RangedOrigin: Sendable {
    struct Plan: Sendable {
        var fields = "Cache-Control: max-age=600\r\n"
        /// The fields of the n-th response, where it is a 206 and has other fields.
        var fieldsOfPart: @Sendable (Int) -> String? = { _ in nil }
        /// The entity tag of the n-th response, counted from 1.
        var entityTag: @Sendable (Int) -> String = { _ in "\"v1\"" }
        /// How many bytes of content the n-th response has at most before the connection ends.
        var sends: @Sendable (Int) -> Int = { _ in .max }
        /// The gate at which the n-th response waits, and the number of content bytes it sends before.
        var waits: @Sendable (Int) -> (behind: Int, gate: Gate)? = { _ in nil }
        var isChunked = false
        /// Whether the origin obeys Range; false stands for an origin without range support.
        var heedsRange = true
        /// How many bytes of content a response has at most, whatever the request's range.
        var longestPart = 1 << 40
    }

    let body: PatternedBody
    private let plan: Plan
    private let state = Guarded<(count: Int, sent: Int)>((0, 0))

    init(_ body: PatternedBody, _ plan: Plan = Plan()) {
        self.body = body
        self.plan = plan
    }

    /// Bytes of content in all responses, counted before they are sent.
    var sentCount: Int { state.withLock { $0.sent } }

    func answer(_ request: OriginRequest, on connection: borrowing OriginConnection) -> Bool {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        let tag = plan.entityTag(number)
        let isCurrent = request["If-Range"] == nil || request["If-Range"] == tag
        let asked = isCurrent && plan.heedsRange ? Self.range(request["Range"], of: body.length) : nil
        let range = asked.map { $0.lowerBound..<min($0.upperBound, $0.lowerBound + plan.longestPart) } ?? 0..<body.length
        var head = asked == nil ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 206 Partial Content\r\n"
        if asked != nil { head += "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(body.length)\r\n" }
        let isChunked = plan.isChunked && asked == nil
        head += isChunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: \(range.count)\r\n"
        let fields = asked == nil ? plan.fields : plan.fieldsOfPart(number) ?? plan.fields
        connection.send(head + "ETag: \(tag)\r\nContent-Type: text/x\r\n\(fields)\r\n")
        if request.method == "HEAD" { return true }
        let limit = plan.sends(number)
        let end = limit >= range.count ? range.upperBound : range.lowerBound + limit
        state.withLock { $0.sent += end - range.lowerBound }
        if isChunked { return sendChunks(upTo: end, on: connection) == range.upperBound }
        var start = range.lowerBound
        if let wait = plan.waits(number) {
            start += wait.behind
            guard connection.send(body, from: range.lowerBound, upTo: start) == start else { return false }
            wait.gate.wait()
        }
        let reached = connection.send(body, from: start, upTo: end)
        return reached == range.upperBound
    }

    private func sendChunks(upTo end: Int, on connection: borrowing OriginConnection) -> Int {
        var done = 0
        while done < end {
            let next = min(done + 10_000, end)
            let text = String(next - done, radix: 16)
            guard connection.send("\(text)\r\n"), connection.send(body, from: done, upTo: next) == next, connection.send("\r\n")
            else {
                return done
            }
            done = next
        }
        if end == body.length { connection.send("0\r\n\r\n") }
        return done
    }

    /// Reads `bytes=a-b` and `bytes=a-`.
    private static func range(_ value: String?, of length: Int) -> Range<Int>? {
        guard let value, value.hasPrefix("bytes=") else { return nil }
        let parts = value.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let first = Int(parts[0]), first < length else { return nil }
        return first..<min((Int(parts[1]) ?? length - 1) + 1, length)
    }
}

extension Stage {
    /// A proxy in front of an origin with one body.
    convenience init(
        _ origin: RangedOrigin, _ yaml: String = "", loops: Int = 1, storePath: String? = ":memory:"
    ) throws {
        try self.init(yaml, loops: loops, storePath: storePath) { origin.answer($0, on: $1) }
    }

    /// Returns when the complete body can be served from the store. A large body is there shortly after its last byte was sent,
    /// and a background fetch of a rule is there when its log line is written.
    func waitUntilStored(_ path: String) throws {
        let log = try FileGrowth(of: proxy.logPath)
        let key = Array(url(path).utf8)
        repeat {
            proxy.waitUntilStored()
            if proxy.isStored(key) { return }
        } while log.wait()
        throw NeverStored()
    }

    /// The Range field of each request in the origin's log.
    var askedRanges: [String?] { origin.requestHeads.map { OriginRequest(head: $0)["Range"] } }
}

struct NeverStored: Error {}
