/// Preconditions of the client, and those sent for a stored response (RFC 9111 §4.3.1, §4.3.2, RFC 9110 §13).
struct ModelPreconditions: Hashable {
    /// The members of If-None-Match.
    var noneMatch: [String] = []
    /// If-Modified-Since in seconds, or unchanged if it is not a date.
    var modifiedSince: String?
    /// If-Match and If-Unmodified-Since, unchanged.
    var forOrigin: [String] = []

    init() {}

    init(_ fields: ModelFields) {
        noneMatch = fields.values("if-none-match").flatMap { ModelText.members($0) }.sorted()
        modifiedSince = fields.single("if-modified-since").map { Self.moment($0) }
        forOrigin = ["if-match", "if-unmodified-since"].flatMap { fields.values($0) }
    }

    static func moment(_ text: String) -> String { ModelDate.seconds(text).map { "\($0)" } ?? text }

    var isEmpty: Bool { noneMatch.isEmpty && modifiedSince == nil }

    /// §4.3.1: "It then updates that request with one or more precondition header fields. These contain validator metadata sourced
    /// from stored response(s)". Ours: the client's own are replaced (docs/requirements.tsv, 9111-4.3.1-1).
    func forValidation(of stored: ModelStored, _ choices: inout ModelChoices) -> ModelPreconditions {
        let tag = stored.response.entityTag
        let modified = stored.response.lastModified
        if tag == nil, modified == nil { return self }
        var sent = ModelPreconditions()
        sent.forOrigin = forOrigin
        sent.noneMatch = tag.map { [$0] } ?? []
        if let modified, tag == nil || !choices.may(.sendsEntityTagAlone) { sent.modifiedSince = "\(modified)" }
        return sent
    }

    /// §4.3.2: whether a stored response answers the client's preconditions with 304.
    ///
    /// "If a cache receives a request that can be satisfied by reusing one of its stored 200 (OK) or 206 (Partial Content)
    /// responses, the cache SHOULD evaluate any applicable conditional header field preconditions".
    static func areMet(_ request: ModelRequest, by stored: ModelStored) -> Bool {
        guard stored.response.status == 200 else { return false }
        // "If-None-Match takes precedence over If-Modified-Since."
        if request.fields.has("if-none-match") {
            let members = request.fields.values("if-none-match").flatMap { ModelText.members($0) }
            if members == ["*"] { return true }
            guard let tag = stored.response.entityTag else { return false }
            return members.contains { ModelStorage.weakly($0, tag) }
        }
        // RFC 9110 §13.1.3: ignored where it "is not a valid HTTP-date" or "has more than one member".
        guard let since = request.fields.single("if-modified-since").flatMap({ ModelDate.seconds($0) }) else { return false }
        // "if […] the Last-Modified header field is not present in a selected stored response, a cache SHOULD use the stored
        // response's Date field value (or, if no Date field is present, the time that the stored response was received)".
        return (stored.response.lastModified ?? stored.dateValue) <= since
    }
}
