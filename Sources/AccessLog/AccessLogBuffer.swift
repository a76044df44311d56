import EventLoop
import HTTPMessage

/// One loop's buffer of the access log. Appending a request writes its line after the others, does not allocate, and never waits for a
/// disk. If the writer is too slow, lines are dropped and counted.
///
/// The loop writes; the writer's thread swaps the lines for empty storage. The lock between them is held for one line or for a swap of
/// two arrays.
package final class AccessLogBuffer: Sendable {
    private let lines: Guarded<AccessLines>
    private let wakeup: AccessLogWakeup
    private let format: AccessLog.Format
    /// Whether the log is off. The caller then need not make a record.
    package let isOff: Bool
    package let includesQuery: Bool

    init(wakeup: AccessLogWakeup, format: AccessLog.Format, isOff: Bool, includesQuery: Bool) {
        var empty = AccessLines()
        if !isOff { empty.reserve() }
        lines = Guarded(empty)
        self.wakeup = wakeup
        self.format = format
        self.isOff = isOff
        self.includesQuery = includesQuery
    }

    /// Writes the line of one request that has ended. The URL is the request's target: the target URI, or `host:port` of a tunnel.
    /// - Parameter members: the members made by `JudgedChain` and `RecordingMember`.
    package func append(
        _ record: AccessRecord, of request: borrowing RequestHead, _ response: borrowing ResponseHead, rule: String,
        serverKey: String, members: [UInt8], user: [UInt8]
    ) {
        let userAgent = request.fields.first(.userAgent)?.value ?? .empty
        let contentType = response.fields.first(.contentType)?.value ?? .empty
        append(
            record, method: request.span(of: request.methodName), url: request.span(of: request.rawTarget),
            referrer: request.span(of: referrer(of: request)), userAgent: request.span(of: userAgent),
            contentType: response.span(of: contentType), rule: rule.utf8.span, serverKey: serverKey.utf8.span,
            members: members.span, user: user.span)
    }

    /// Referer is not a `KnownField`: it is searched by name, and only for the format that writes it.
    private func referrer(of request: borrowing RequestHead) -> Extent {
        guard case .combined = format, let index = request.fields.index(ofName: Self.referrerName.span) else { return .empty }
        return request.fields.lines[index].value
    }

    private static let referrerName = Array("referer".utf8)

    /// Writes a line from texts that need not be parts of a request's or response's head. The query of the URL is omitted if the settings
    /// say so.
    @inline(__always)
    func append(
        _ record: AccessRecord, method: Span<UInt8>, url: Span<UInt8>, referrer: Span<UInt8> = Span(),
        userAgent: Span<UInt8> = Span(), contentType: Span<UInt8> = Span(), rule: Span<UInt8> = Span(),
        serverKey: Span<UInt8> = Span(), members: Span<UInt8> = Span(), user: Span<UInt8> = Span()
    ) {
        if isOff { return }
        // A referrer is a URL too, so its query is omitted as well.
        let texts = AccessTexts(
            method: method, url: includesQuery ? url : url.extracting(first: url.lengthBeforeQuery),
            referrer: referrer.extracting(
                first: referrer.holdsUserinfo ? 0 : includesQuery ? referrer.count : referrer.lengthBeforeQuery),
            userAgent: userAgent, contentType: contentType, rule: rule, serverKey: serverKey, members: members,
            user: user)
        let call = lines.withLock { lines -> AccessLogWakeup.Call in
            if lines.isFull { return .dropped }
            let wasEmpty = lines.isEmpty
            let wasHalfFull = lines.isHalfFull
            lines.append(record, texts, as: format)
            if lines.isHalfFull && !wasHalfFull { return .soon }
            return wasEmpty ? .inTime : .none
        }
        wakeup.signal(call)
    }

    /// Whether the format has members for certificate chains and recordings.
    package var tellsMembers: Bool { if case .ndjson = format { !isOff } else { false } }

    /// Swaps the lines for empty storage. Called by the writer.
    func take(_ empty: inout AccessLines) {
        lines.withLock { swap(&$0, &empty) }
    }
}

extension Span<UInt8> {
    /// Whether the URI has a user name and password before its host. Such a referrer is not written to the log (threat T43).
    fileprivate var holdsUserinfo: Bool {
        var slashes = 0
        for index in 0..<count {
            if self[index] == 0x40 { return true }
            if self[index] == ASCII.slash { slashes += 1 }
            if slashes == 3 { return false }
        }
        return false
    }

    /// The length of a URI without its query, for a log without queries.
    var lengthBeforeQuery: Int {
        first(from: 0, block: { $0.isEqual(to: ASCII.question) }, octet: { $0 == ASCII.question })
    }
}
