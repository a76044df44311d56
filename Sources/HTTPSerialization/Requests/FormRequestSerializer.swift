/// Parameters in the query of some methods, and in a form for all others (`application/x-www-form-urlencoded`).
public struct FormRequestSerializer: RequestSerializer {
    /// How parameters are written.
    public var encoder: FormEncoder
    /// Whose parameters stand in the URI.
    public var queryMethods: QueryMethods

    /// A serializer that writes so.
    public init(_ options: FormEncodingOptions = FormEncodingOptions(), queryMethods: QueryMethods = .usual) {
        encoder = FormEncoder(options)
        self.queryMethods = queryMethods
    }

    /// Without parameters nothing is added. A form of no pairs is content of no bytes, which is a form too.
    public func serialize(
        _ parameters: JSONObject?, method: String, target: String
    ) throws(RequestSerializationError) -> SerializedRequest {
        if queryMethods.contains(method) {
            return SerializedRequest(target: parameters.map { encoder.appending($0, to: target) } ?? target)
        }
        let form = parameters.map(encoder.encode) ?? ""
        return SerializedRequest(
            target: target, contentType: "application/x-www-form-urlencoded", content: .octets(Array(form.utf8)))
    }
}

/// A JSON text as content (`application/json`); for the methods that have none, an object's members in the query.
public struct JSONRequestSerializer: RequestSerializer {
    /// How the text is written.
    public var options: JSONWriteOptions
    /// How parameters stand in a query.
    public var query: FormEncodingOptions
    /// Whose parameters stand in the URI.
    public var queryMethods: QueryMethods

    /// A serializer that writes so.
    public init(
        _ options: JSONWriteOptions = JSONWriteOptions(), query: FormEncodingOptions = FormEncodingOptions(),
        queryMethods: QueryMethods = .usual
    ) {
        self.options = options
        self.query = query
        self.queryMethods = queryMethods
    }

    /// Without parameters there is neither type nor content.
    public func serialize(
        _ parameters: JSONValue?, method: String, target: String
    ) throws(RequestSerializationError) -> SerializedRequest {
        guard let parameters else { return SerializedRequest(target: target) }
        if queryMethods.contains(method) {
            guard case .object(let object) = parameters else {
                throw RequestSerializationError(.inexpressible, "\(parameters.kind) in a query")
            }
            return SerializedRequest(target: FormEncoder(query).appending(object, to: target))
        }
        return SerializedRequest(target: target, contentType: "application/json", content: .octets(parameters.text(options)))
    }
}

/// A form of parts as content (`multipart/form-data`, RFC 7578), read while it is sent.
public struct MultipartRequestSerializer: RequestSerializer {
    /// The form says everything itself.
    public init() {}

    /// A form without parts leaves the request as it is. GET and HEAD have no content.
    public func serialize(
        _ form: MultipartForm?, method: String, target: String
    ) throws(RequestSerializationError) -> SerializedRequest {
        guard let form, !form.isEmpty else { return SerializedRequest(target: target) }
        let name = method.uppercased()
        if name == "GET" || name == "HEAD" { throw RequestSerializationError(.methodWithoutContent, method) }
        return SerializedRequest(target: target, contentType: form.contentType, content: .multipart(form))
    }
}
