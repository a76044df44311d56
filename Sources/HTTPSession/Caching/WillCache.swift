/// A response that is about to be stored.
public struct CacheCandidate: Sendable {
    /// The URI it came from.
    public let uri: TargetURI
    /// Its status code.
    public let status: Int
    /// Its fields, as received.
    public let fields: HTTPFields
    /// Its body as received; content codings are not decoded.
    public let body: [UInt8]
}

/// What to do with a response that is about to be stored.
public enum CacheDecision: Sendable {
    case store
    case drop
    /// Store it with these fields and this body, if it is still storable then.
    case modify(fields: HTTPFields, body: [UInt8])
}
