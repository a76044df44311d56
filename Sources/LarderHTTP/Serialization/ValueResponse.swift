public import ServerTrust

/// A decoded value, and the response that it was decoded from.
public struct ValueResponse<Value: Sendable>: Sendable {
    /// The decoded content.
    public let value: Value
    /// The status code (RFC 9110 §15).
    public let status: Int
    /// The fields of the head.
    public let fields: SessionFields
    /// The fields after a chunked body (RFC 9112 §7.1.2).
    public let trailers: SessionFields
    /// The URI that the response came from, after all redirects.
    public let uri: TargetURI
    /// Timings and counts of the transfer's exchanges.
    public let metrics: TransferMetrics
    /// What the session's cache did; `nil` if the session has no cache.
    public let cache: CacheUse?
    /// The verdict on the server of the last exchange; `nil` without TLS, and after a cache hit.
    public var trust: TrustVerdict? { cache?.isHit == true ? nil : metrics.exchanges.last?.trust }

    init(_ value: Value, of response: SessionResponse) {
        self.value = value
        status = response.status
        fields = response.fields
        trailers = response.trailers
        uri = response.uri
        metrics = response.metrics
        cache = response.cache
    }
}

/// The value of a response with an accepted status, or the value of the body of an error response.
public enum ValueOrProblem<Value: Sendable, Problem: Sendable>: Sendable {
    /// The serializer accepts the response.
    case value(ValueResponse<Value>)
    /// The serializer does not accept the status, and the second serializer decoded the body.
    case problem(ValueResponse<Problem>)

    /// The value.
    /// - Throws: the problem, if it is an error.
    public func get() throws -> ValueResponse<Value> where Problem: Error {
        switch self {
        case .value(let response): return response
        case .problem(let response): throw response.value
        }
    }
}
