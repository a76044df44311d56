/// A response that is about to be stored.
public struct CacheCandidate: Sendable {
    /// The URI that was requested.
    public let uri: TargetURI
    /// The response's status code.
    public let status: Int
    /// The response's fields, as received.
    public let fields: SessionFields
    /// The response's body, as received: content codings are not decoded.
    public let body: [UInt8]
}

/// What to do with a response that is about to be stored.
public enum CacheDecision: Sendable {
    case store
    case drop
    /// Store the response with these fields and this body, if the changed response may be stored.
    case modify(fields: SessionFields, body: [UInt8])
}
