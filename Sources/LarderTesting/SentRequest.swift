public import LarderHTTP

/// A request that a session sent to a scripted network: after interceptors, with default fields, cookies and credentials. Redirects,
/// retries and answers to challenges are requests of their own.
public struct SentRequest: Sendable, CustomStringConvertible {
    /// The method.
    public let method: HTTPMethod
    /// The target.
    public let uri: TargetURI
    /// The fields, without Host, Content-Length and Transfer-Encoding, unless the caller set them.
    public let fields: SessionFields
    /// The content.
    public let body: [UInt8]
    /// When the session sent the request.
    public let time: VirtualClock.Instant

    /// The content as text; bytes that are not UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }
    /// The method and the target.
    public var description: String { "\(method) \(uri)" }
}
