/// Encodes parameters in the query for some methods, and as a form (`application/x-www-form-urlencoded`) for all others.
public struct FormRequestSerializer: RequestSerializer {
    /// The encoder for the parameters.
    public var encoder: FormEncoder
    /// Methods whose parameters are in the URI.
    public var queryMethods: QueryMethods

    /// A serializer with these options.
    public init(_ options: FormEncodingOptions = FormEncodingOptions(), queryMethods: QueryMethods = .usual) {
        encoder = FormEncoder(options)
        self.queryMethods = queryMethods
    }

    /// Without parameters, the target stays unchanged. If the method sends its parameters as a form, the request then has empty content
    /// with the form's media type.
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

/// Encodes parameters as JSON content (`application/json`). For the methods in `queryMethods`, encodes the members of an
/// object in the query.
public struct JSONRequestSerializer: RequestSerializer {
    /// Options for the JSON text.
    public var options: JSONWriteOptions
    /// Options for parameters in the query.
    public var query: FormEncodingOptions
    /// Methods whose parameters are in the URI.
    public var queryMethods: QueryMethods

    /// A serializer with these options.
    public init(
        _ options: JSONWriteOptions = JSONWriteOptions(), query: FormEncodingOptions = FormEncodingOptions(),
        queryMethods: QueryMethods = .usual
    ) {
        self.options = options
        self.query = query
        self.queryMethods = queryMethods
    }

    /// Without parameters the request has no content and no Content-Type.
    public func serialize(
        _ parameters: JSONValue?, method: String, target: String
    ) throws(RequestSerializationError) -> SerializedRequest {
        guard let parameters else { return SerializedRequest(target: target) }
        if queryMethods.contains(method) {
            guard case .object(let object) = parameters else {
                throw RequestSerializationError(
                    .inexpressible, "the parameters of a query must be an object, found \(parameters.kind)")
            }
            return SerializedRequest(target: FormEncoder(query).appending(object, to: target))
        }
        return SerializedRequest(target: target, contentType: "application/json", content: .octets(parameters.text(options)))
    }
}

/// Encodes a multipart form as content (`multipart/form-data`, RFC 7578), which is read while it is sent.
public struct MultipartRequestSerializer: RequestSerializer {
    /// Creates a serializer. It has no options, because the form contains them.
    public init() {}

    /// A form without parts leaves the request unchanged. GET and HEAD cannot have content, and throw `methodWithoutContent`.
    public func serialize(
        _ form: MultipartForm?, method: String, target: String
    ) throws(RequestSerializationError) -> SerializedRequest {
        guard let form, !form.isEmpty else { return SerializedRequest(target: target) }
        let name = method.uppercased()
        if name == "GET" || name == "HEAD" { throw RequestSerializationError(.methodWithoutContent, method) }
        return SerializedRequest(target: target, contentType: form.contentType, content: .multipart(form))
    }
}
