import HTTPMessage
public import ServerTrust

/// A whole response.
public struct SessionResponse: Sendable {
    /// The status code (RFC 9110 §15).
    public let status: Int
    /// The fields of the head.
    public let fields: SessionFields
    /// The fields after a chunked body (RFC 9112 §7.1.2), kept apart from the fields of the head (RFC 9110 §6.5.1).
    public let trailers: SessionFields
    /// The content.
    public let body: [UInt8]
    /// The URI that the response came from, after all redirects.
    public let uri: TargetURI
    /// Timings and counts of the transfer's exchanges.
    public let metrics: TransferMetrics
    /// What the session's cache did; `nil` if the session has no cache.
    public internal(set) var cache: CacheUse?

    /// The verdict on the server of the last exchange; `nil` without TLS, and after a cache hit.
    public var trust: TrustVerdict? { cache?.isHit == true ? nil : metrics.exchanges.last?.trust }
    /// Whether the status is 2xx (RFC 9110 §15.3).
    public var isSuccessful: Bool { status >= 200 && status < 300 }
    /// The content as text; bytes that are not UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The whole response, with its content codings removed.
    init(_ arrived: TransferTask.OpenResponse, _ metrics: TransferMetrics) throws(SessionError) {
        do throws(SessionError) { body = try arrived.decoding?.decoded(arrived.octets) ?? arrived.octets } catch {
            throw error.about(arrived.response)
        }
        status = Int(arrived.head.status.code)
        fields = arrived.fields
        trailers = SessionFields(arrived.end?.trailers ?? Fields())
        uri = arrived.uri
        self.metrics = metrics
        cache = arrived.cache
    }
}

/// A response whose content is still being received.
public struct StreamingResponse: Sendable {
    /// The status code (RFC 9110 §15).
    public let status: Int
    /// The fields of the head.
    public let fields: SessionFields
    /// The URI that the response came from, after all redirects.
    public let uri: TargetURI
    /// What the session's cache did; `nil` if the session has no cache.
    public let cache: CacheUse?
    /// The content, to be read once, by one task. The origin is read no faster than the task reads. Releasing the body ends the
    /// transfer.
    public let body: ResponseBody

    /// Whether the status is 2xx (RFC 9110 §15.3).
    public var isSuccessful: Bool { status >= 200 && status < 300 }
}
