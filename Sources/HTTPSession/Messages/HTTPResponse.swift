/// A whole response.
public struct HTTPResponse: Sendable {
    /// The status code (RFC 9110 §15).
    public let status: Int
    /// The fields of the head.
    public let fields: HTTPFields
    /// The fields after a chunked body (RFC 9112 §7.1.2), kept apart from the fields of the head (RFC 9110 §6.5.1).
    public let trailers: HTTPFields
    /// The content.
    public let body: [UInt8]
    /// The URI that the response came from, after all redirects.
    public let uri: TargetURI
    /// Timings and counts of the transfer's exchanges.
    public let metrics: TransferMetrics

    /// Whether the status is 2xx (RFC 9110 §15.3).
    public var isSuccessful: Bool { status >= 200 && status < 300 }
    /// The content as text; bytes that are not UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }
}

/// A response whose content is still being received.
public struct StreamingResponse: Sendable {
    /// The status code (RFC 9110 §15).
    public let status: Int
    /// The fields of the head.
    public let fields: HTTPFields
    /// The URI that the response came from, after all redirects.
    public let uri: TargetURI
    /// The content, to be read once, by one task. The origin is read no faster than the task reads. Releasing the body ends the
    /// transfer.
    public let body: ResponseBody

    /// Whether the status is 2xx (RFC 9110 §15.3).
    public var isSuccessful: Bool { status >= 200 && status < 300 }
}
