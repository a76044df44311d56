/// One exchange of a history: its time, the request, and the origin server's responses. It is self-contained, so that earlier ones can be
/// removed.
struct ModelStep {
    /// What the origin server does with a request.
    enum Behaviour: Equatable { case answers, fails, claimsNotModified }

    /// The responses to the first request, to a second one, and to one in the background.
    struct Answer {
        var behaviour = Behaviour.answers
        var delay = 0
        var response = ModelResponse(status: 200, fields: ModelFields())
        /// The lines of a 304, if it would send one.
        var notModified = ModelFields()
    }

    let number: Int
    /// In seconds since 1970.
    let time: Int
    var request: ModelRequest
    /// The last one is used for all further requests.
    var answers: [Answer]

    /// RFC 9110 §13.2.2, for an origin server: 304 for a GET or HEAD whose preconditions say that nothing has changed.
    ///
    /// - Returns: `nil` if it fails.
    func response(_ attempt: Int, to conditions: ModelPreconditions) -> (delay: Int, response: ModelResponse?) {
        let answer = answers[min(attempt, answers.count - 1)]
        if answer.behaviour == .fails { return (answer.delay, nil) }
        let isRead = request.method == "GET" || request.method == "HEAD"
        let isNotModified: Bool =
            if !isRead || conditions.isEmpty || (answer.response.status != 200 && answer.behaviour == .answers) {
                false
            } else if answer.behaviour == .claimsNotModified {
                true
            } else if !conditions.noneMatch.isEmpty {
                conditions.noneMatch == ["*"]
                    || conditions.noneMatch.contains { tag in
                        answer.response.entityTag.map { ModelStorage.weakly($0, tag) } ?? false
                    }
            } else if let modified = answer.response.lastModified, let since = conditions.modifiedSince.flatMap({ Int($0) }) {
                modified <= since
            } else {
                false
            }
        return (answer.delay, isNotModified ? ModelResponse(status: 304, fields: answer.notModified) : answer.response)
    }
}
