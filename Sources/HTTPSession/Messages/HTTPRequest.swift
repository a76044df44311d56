public import HTTPCaching

/// A request as its sender describes it. What it leaves open is taken from the session's configuration.
public struct HTTPRequest: Sendable {
    /// What is asked.
    public var method: HTTPMethod
    /// A URI, or a reference to one when the session has a base. What is wrong with it is found when it is sent.
    public var target: String
    /// These take the place of the session's default fields with the same names.
    public var fields: HTTPFields
    /// The content that goes along.
    public var body: RequestBody
    /// Higher ones are begun first where transfers wait for their turn.
    public var priority: Priority = .normal
    /// `nil` uses the session's.
    public var cachePolicy: CachePolicy?
    /// `nil` uses the session's.
    public var timeouts: SessionTimeouts?

    /// Who goes first.
    public enum Priority: Int, Comparable, Sendable, CaseIterable {
        case low, normal, high
        public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
    }

    /// A request for a target; everything else can be set behind.
    public init(_ method: HTTPMethod = .get, _ target: String, fields: HTTPFields = HTTPFields(), body: RequestBody = .none) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }
}
