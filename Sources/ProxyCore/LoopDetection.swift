import HTTPMessage

/// Detects a request that has passed through this proxy before (RFC 9110 §7.6.3): its Via names this proxy, or its target is one of this
/// proxy's listeners.
enum LoopDetection {
    static func isLoop(_ request: RequestHead, in context: ExchangeContext) -> Bool {
        if request.fields.contains(.via), viaNames(context.pseudonym, in: request.fields) { return true }
        guard !request.target.host.isEmpty, !context.ownAddresses.isEmpty else { return false }
        return context.isOwnAddress(host: request.span(of: request.target.host), port: request.target.port)
    }

    /// Each member of Via is `protocol received-by [comment]`; only the second word is compared.
    private static func viaNames(_ pseudonym: [UInt8], in fields: Fields) -> Bool {
        for line in fields.lines where line.known == .via {
            let value = fields.value(of: line)
            var start = 0
            while start < value.count {
                var end = start
                while end < value.count, value[end] != ASCII.comma { end += 1 }
                let member = value.extracting(value.trimmedBounds(in: start..<end))
                if receivedBy(member, is: pseudonym) { return true }
                start = end + 1
            }
        }
        return false
    }

    private static func receivedBy(_ member: Span<UInt8>, is pseudonym: [UInt8]) -> Bool {
        var start = 0
        while start < member.count, !ASCII.isBlank(member[start]) { start += 1 }
        while start < member.count, ASCII.isBlank(member[start]) { start += 1 }
        var end = start
        while end < member.count, !ASCII.isBlank(member[end]) { end += 1 }
        return member.extracting(start..<end).equalsIgnoringCase(pseudonym.span)
    }
}
