import HTTPMessage

/// A log line that waits for data from another thread. It copies its texts from the heads, which the next request overwrites. It has only
/// those texts that formats with members use (`AccessLogBuffer.tellsMembers`).
package struct HeldAccessLine: Sendable {
    private let log: AccessLogBuffer
    private let record: AccessRecord
    private let method: [UInt8]
    private let url: [UInt8]
    private let rule: String
    private let serverKey: String
    private let user: [UInt8]

    package init(
        _ record: AccessRecord, method: Span<UInt8>, url: Span<UInt8>, rule: String, serverKey: String, user: [UInt8],
        in log: AccessLogBuffer
    ) {
        self.log = log
        self.record = record
        self.method = Self.octets(method.extracting(first: AccessTexts.Limit.method))
        self.url = Self.octets(url.extracting(first: AccessTexts.Limit.url))
        self.rule = rule
        self.serverKey = serverKey
        self.user = user
    }

    /// Appends the line to the log. Callable from any thread.
    package func write(members: [UInt8]) {
        log.append(
            record, method: method.span, url: url.span, rule: rule.utf8.span, serverKey: serverKey.utf8.span,
            members: members.span, user: user.span)
    }

    private static func octets(_ span: Span<UInt8>) -> [UInt8] {
        var octets: [UInt8] = []
        octets.append(span)
        return octets
    }
}
