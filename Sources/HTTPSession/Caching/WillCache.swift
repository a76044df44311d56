/// A response that is about to be kept.
public struct CacheCandidate: Sendable {
    /// Whence it came.
    public let uri: TargetURI
    /// Its status code.
    public let status: Int
    /// Its fields, as they came.
    public let fields: HTTPFields
    /// As it came, content codings not taken off.
    public let body: [UInt8]
}

/// What becomes of it.
public enum CacheDecision: Sendable {
    case store
    case drop
    /// It is kept so, where it may still be kept.
    case modify(fields: HTTPFields, body: [UInt8])
}
