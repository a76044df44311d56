import LarderHTTP

/// The requests that a script means: a method and a target, or a closure.
struct RequestPattern: Sendable, CustomStringConvertible {
    private let matches: @Sendable (SentRequest) -> Bool
    let description: String

    init(_ matches: @escaping @Sendable (SentRequest) -> Bool) {
        self.matches = matches
        description = "(a closure)"
    }

    /// - Parameters:
    ///   - method: the method; `nil` for any.
    ///   - target: a URL, or a path, which then means every origin. A target without a query means every query. A star at the end means
    ///     every continuation.
    init(_ method: HTTPMethod?, _ target: String) {
        description = "\(method?.name ?? "any") \(target)"
        let isPrefix = target.hasSuffix("*")
        let wanted = isPrefix ? String(target.dropLast()) : Self.normalized(target)
        let hasQuery = wanted.contains("?")
        let isPath = wanted.hasPrefix("/")
        matches = { request in
            if let method, request.method != method { return false }
            let uri = request.uri
            var text = isPath ? uri.path : uri.descriptionWithoutQuery
            if hasQuery || isPrefix, let query = uri.query { text += "?" + query }
            return isPrefix ? text.hasPrefix(wanted) : text == wanted
        }
    }

    func includes(_ request: SentRequest) -> Bool { matches(request) }

    /// The target in the spelling of `TargetURI`.
    private static func normalized(_ target: String) -> String {
        if target.hasPrefix("/") { return target }
        guard let uri = try? TargetURI(target) else {
            preconditionFailure("\(target) is neither an http or https URL nor a path that begins with a slash")
        }
        return uri.description
    }
}
