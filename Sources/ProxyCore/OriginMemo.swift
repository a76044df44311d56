import HTTPMessage

/// An origin that the trust policies were asked about, until they may mean something else.
struct OriginMemo: Sendable {
    /// In lower case, without brackets.
    let host: [UInt8]
    let port: UInt16
    /// The last moment.
    let until: Timestamp
}

extension Exchange {
    /// Whether the request is for that origin. A client asks the same one again and again: then this comparison is all, and allocates
    /// nothing.
    mutating func isFor(_ memo: OriginMemo, at now: Timestamp) -> Bool {
        let target = request.target
        return memo.port == target.port && now <= memo.until
            && memo.host.span.equalsIgnoringCase(request.span(of: target.host))
    }
}
