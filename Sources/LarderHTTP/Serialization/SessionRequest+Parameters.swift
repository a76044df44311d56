public import HTTPSerialization

extension SessionRequest {
    /// A request with parameters, encoded by a serializer: in the query, or as content with its type.
    /// - Throws: `request_serialization`.
    public init<Serializer: RequestSerializer>(
        _ method: HTTPMethod, _ target: String, parameters: Serializer.Parameters?, as serializer: Serializer,
        fields: SessionFields = SessionFields()
    ) throws(SessionError) {
        do throws(RequestSerializationError) {
            let serialized = try serializer.serialize(parameters, method: method.name, target: target)
            self.init(method, serialized.target, fields: fields)
            if let type = serialized.contentType, !fields.contains("Content-Type") { self.fields["Content-Type"] = type }
            switch serialized.content {
            case .octets(let octets): body = .octets(octets)
            case .multipart(let form): body = .stream(BodyStream(length: form.length) { form.pieces() })
            case nil: body = .none
            }
        } catch {
            var failure = SessionError(.requestSerialization, "\(error.code.rawValue): \(error.subject)")
            failure.underlying = error
            throw failure
        }
    }
}

extension HTTPSession {
    /// Sends parameters in the query for GET, HEAD and DELETE, and as a form for other methods.
    public func send(
        _ method: HTTPMethod, _ target: String, parameters: JSONObject?, fields: SessionFields = SessionFields()
    ) async throws(SessionError) -> SessionResponse {
        try await send(SessionRequest(method, target, parameters: parameters, as: FormRequestSerializer(), fields: fields))
    }

    /// Sends a GET request with parameters in the query.
    public func get(_ target: String, parameters: JSONObject? = nil) async throws(SessionError) -> SessionResponse {
        try await send(.get, target, parameters: parameters)
    }

    /// Sends a HEAD request with parameters in the query.
    public func head(_ target: String, parameters: JSONObject? = nil) async throws(SessionError) -> SessionResponse {
        try await send(.head, target, parameters: parameters)
    }

    /// Sends a DELETE request with parameters in the query.
    public func delete(_ target: String, parameters: JSONObject? = nil) async throws(SessionError) -> SessionResponse {
        try await send(.delete, target, parameters: parameters)
    }

    /// Sends a POST request with parameters as a form.
    public func post(_ target: String, parameters: JSONObject? = nil) async throws(SessionError) -> SessionResponse {
        try await send(.post, target, parameters: parameters)
    }

    /// Sends a PUT request with parameters as a form.
    public func put(_ target: String, parameters: JSONObject? = nil) async throws(SessionError) -> SessionResponse {
        try await send(.put, target, parameters: parameters)
    }

    /// Sends a PATCH request with parameters as a form.
    public func patch(_ target: String, parameters: JSONObject? = nil) async throws(SessionError) -> SessionResponse {
        try await send(.patch, target, parameters: parameters)
    }

    /// Sends a multipart form, whose parts are read while they are sent.
    public func upload(
        _ request: SessionRequest, parts form: MultipartForm, as transfer: Transfer = Transfer()
    ) async throws(SessionError) -> SessionResponse {
        let serialized = try SessionRequest(
            request.method, request.target, parameters: form, as: MultipartRequestSerializer(), fields: request.fields)
        var request = request
        request.fields = serialized.fields
        request.body = serialized.body
        return try await send(request, as: transfer)
    }
}
