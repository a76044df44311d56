public import HTTPCaching

/// A request as the caller describes it. Anything left unset is taken from the session's configuration.
public struct SessionRequest: Sendable {
    /// The request method.
    public var method: HTTPMethod
    /// A URI, or a relative reference if the session has a base. Errors in the target are reported when the request is sent.
    public var target: String
    /// The request's fields. They replace the session's default fields of the same names.
    public var fields: SessionFields
    /// The content.
    public var body: RequestBody
    /// The priority among waiting transfers: those with a higher priority begin first.
    public var priority: Priority = .normal
    /// The cache policy; `nil` for the session's policy.
    public var cachePolicy: CachePolicy?
    /// The timeouts; `nil` for the session's timeouts.
    public var timeouts: SessionTimeouts?
    /// What this request changes of its session's configuration.
    public var options: RequestOptions {
        get { optionsBox?.options ?? RequestOptions() }
        set { optionsBox = RequestOptionsBox(newValue) }
    }
    var optionsBox: RequestOptionsBox?

    /// Priority among waiting transfers.
    public enum Priority: Int, Comparable, Sendable, CaseIterable {
        case low, normal, high
        public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
    }

    /// A request for a target; the other properties can be set later.
    public init(_ method: HTTPMethod = .get, _ target: String, fields: SessionFields = SessionFields(), body: RequestBody = .none)
    {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }
}
