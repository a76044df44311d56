import EventLoop
import HTTPMessage

/// One loop's way into the access log: noting a request writes its line behind the others and allocates nothing, never waits
/// for a disk, and drops and counts what the writer is too slow for.
///
/// The loop writes, the writer's thread takes all lines in exchange for an empty storage; the lock between them is held for
/// a line or an exchange of two arrays.
package final class AccessLogBuffer: Sendable {
    private let lines: Guarded<AccessLines>
    private let wakeup: AccessLogWakeup
    private let format: AccessLog.Format
    /// Nothing is written: a record need not even be made.
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

    /// Writes the line of one request, once it has ended. The URL is the request's target: the target URI, or `host:port` of a tunnel.
    /// - Parameter members: What `JudgedChain` and `RecordingMember` have made.
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

    /// No field that Larder knows: it is looked for by its name, and only where it is written.
    private func referrer(of request: borrowing RequestHead) -> Extent {
        guard case .combined = format, let index = request.fields.index(ofName: Self.referrerName.span) else { return .empty }
        return request.fields.lines[index].value
    }

    private static let referrerName = Array("referer".utf8)

    /// The same of texts that lie elsewhere. The query of the URL is left out where the settings say so.
    @inline(__always)
    func append(
        _ record: AccessRecord, method: Span<UInt8>, url: Span<UInt8>, referrer: Span<UInt8> = Span(),
        userAgent: Span<UInt8> = Span(), contentType: Span<UInt8> = Span(), rule: Span<UInt8> = Span(),
        serverKey: Span<UInt8> = Span(), members: Span<UInt8> = Span(), user: Span<UInt8> = Span()
    ) {
        if isOff { return }
        // A referrer is a URL too.
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

    /// Whether members are written at all: chains, and what recordings had to do with a request.
    package var tellsMembers: Bool { if case .ndjson = format { !isOff } else { false } }

    /// Exchanges what was noted for an empty storage. For the writer.
    func take(_ empty: inout AccessLines) {
        lines.withLock { swap(&$0, &empty) }
    }
}

extension Span<UInt8> {
    /// A URI with user and password before its host: such a referrer is not written (T43).
    fileprivate var holdsUserinfo: Bool {
        var slashes = 0
        for index in 0..<count {
            if self[index] == 0x40 { return true }
            if self[index] == ASCII.slash { slashes += 1 }
            if slashes == 3 { return false }
        }
        return false
    }

    /// How much of a URI may stand in a log that tells no queries.
    var lengthBeforeQuery: Int {
        first(from: 0, block: { $0.isEqual(to: ASCII.question) }, octet: { $0 == ASCII.question })
    }
}
