import HTTPMessage

/// The texts of a record, as spans of the heads: they are not copied before they are written. Long texts are cut, so that a log line is
/// bounded however long a URL is.
struct AccessTexts: ~Escapable {
    let method: Span<UInt8>
    let url: Span<UInt8>
    let referrer: Span<UInt8>
    let userAgent: Span<UInt8>
    let contentType: Span<UInt8>
    let rule: Span<UInt8>
    /// The digest of the public key of an untrusted server.
    let serverKey: Span<UInt8>
    /// The members made by `JudgedChain` and `RecordingMember`, written without escaping; empty for most requests.
    let members: Span<UInt8>
    /// The user name of the client, if it authenticated.
    let user: Span<UInt8>

    /// The maximum number of bytes of each text.
    enum Limit {
        static let method = 64
        static let url = 8192
        static let referrer = 2048
        static let userAgent = 512
        static let contentType = 128
        static let rule = 128
        static let serverKey = 64
        static let user = 255
        /// The sum of the limits of all texts that are escaped.
        static let all = method + url + referrer + userAgent + contentType + rule + serverKey + user
    }

    @_lifetime(
        copy method, copy url, copy referrer, copy userAgent, copy contentType, copy rule, copy serverKey, copy members, copy user
    )
    init(
        method: Span<UInt8>, url: Span<UInt8>, referrer: Span<UInt8>, userAgent: Span<UInt8>, contentType: Span<UInt8>,
        rule: Span<UInt8>, serverKey: Span<UInt8>, members: Span<UInt8> = Span(), user: Span<UInt8> = Span()
    ) {
        self.method = method.extracting(first: Limit.method)
        self.url = url.extracting(first: Limit.url)
        self.referrer = referrer.extracting(first: Limit.referrer)
        self.userAgent = userAgent.extracting(first: Limit.userAgent)
        self.contentType = contentType.extracting(first: Limit.contentType)
        self.rule = rule.extracting(first: Limit.rule)
        self.serverKey = serverKey.extracting(first: Limit.serverKey)
        self.members = members
        self.user = user.extracting(first: Limit.user)
    }

    /// The total length of the texts that are escaped, in bytes.
    var count: Int {
        method.count + url.count + referrer.count + userAgent.count + contentType.count + rule.count + serverKey.count
            + user.count
    }
}
