/// The details of a problem, as HTTP APIs send them with an error response (RFC 9457).
///
/// A member of the wrong type is ignored, as RFC 9457 §3.1 requires.
public struct ProblemDetails: Error, Hashable, Sendable {
    /// The URI of the kind of problem; `about:blank` if the server sends none.
    public var type: String
    /// A short summary of the kind of problem.
    public var title: String?
    /// The status that the server sent; other servers on the way may have changed the status of the response.
    public var status: Int?
    /// An explanation of this occurrence of the problem.
    public var detail: String?
    /// The URI of this occurrence.
    public var instance: String?
    /// The other members, which depend on the kind of problem.
    public var extensions: JSONObject

    /// The details of a problem.
    public init(
        type: String = "about:blank", title: String? = nil, status: Int? = nil, detail: String? = nil, instance: String? = nil,
        extensions: JSONObject = JSONObject()
    ) {
        self.type = type
        self.title = title
        self.status = status
        self.detail = detail
        self.instance = instance
        self.extensions = extensions
    }

    /// The details in a JSON object.
    public init(_ object: JSONObject) {
        self.init(
            type: object["type"]?.string ?? "about:blank", title: object["title"]?.string, status: object["status"]?.int,
            detail: object["detail"]?.string, instance: object["instance"]?.string,
            extensions: JSONObject(object.members.filter { !Self.names.contains($0.name) }))
    }

    private static let names: Set<String> = ["type", "title", "status", "detail", "instance"]
}

extension ProblemDetails: CustomStringConvertible {
    /// The title and the detail, or the type if there is neither.
    public var description: String {
        let words = [title, detail].compactMap { $0 }
        return words.isEmpty ? type : words.joined(separator: ": ")
    }
}

/// Decodes `application/problem+json` (RFC 9457), with any status.
public struct ProblemDetailsSerializer: ResponseSerializer {
    /// The accepted statuses and types.
    public var validation: ResponseValidation
    /// Options for parsing the text.
    public var options: JSONParseOptions

    /// A serializer; by default it accepts `application/problem+json` with every status.
    public init(
        _ options: JSONParseOptions = JSONParseOptions(),
        validation: ResponseValidation = ResponseValidation(statuses: [], contentTypes: ["application/problem+json"])
    ) {
        self.options = options
        self.validation = validation
    }

    /// - Throws: `otherType` if the content is no JSON object, and the faults of `JSONValueSerializer`.
    public func decode(_ body: [UInt8], of head: ReceivedHead) throws(ResponseFault) -> ProblemDetails {
        guard case .object(let object) = try JSONValueSerializer(options).decode(body, of: head) else {
            throw ResponseFault(.otherType, "the problem is not a JSON object")
        }
        return ProblemDetails(object)
    }
}
