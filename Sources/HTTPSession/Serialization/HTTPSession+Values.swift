public import HTTPSerialization

extension HTTPSession {
    /// Sends a request and decodes its response.
    ///
    /// Accept lists the types that the serializer accepts, unless the request sets Accept itself.
    /// - Throws: the errors of `send`, and the serializer's errors. A serializer's error has all faults of the response as causes,
    ///   from the outermost to the innermost, and contains the response with its body.
    public func value<Serializer: ResponseSerializer>(
        _ request: HTTPRequest, as serializer: Serializer, transfer: Transfer = Transfer()
    ) async throws(SessionError) -> Serializer.Output {
        var request = request
        if !request.fields.contains("Accept"), let accept = serializer.validation.acceptField {
            request.fields["Accept"] = accept
        }
        let response = try await send(request, as: transfer)
        let head = ReceivedHead(
            status: response.status, contentTypes: response.fields.values(of: "Content-Type"), method: request.method.name)
        do throws(ResponseSerializationError) {
            return try serializer.serialize(head, response.body).get()
        } catch { throw SessionError(error, response, to: request) }
    }
}

extension SessionError {
    fileprivate init(_ error: ResponseSerializationError, _ response: HTTPResponse, to request: HTTPRequest) {
        self.init(.responseSerialization)
        causes = error.faults.map { fault in
            Cause(code: Code(rawValue: fault.code.rawValue) ?? .responseSerialization, detail: fault.detail)
        }
        underlying = error
        self.response = Response(status: response.status, fields: response.fields, uri: response.uri)
        partialBody = response.body
        self.request = "\(request.method) \(response.uri.descriptionWithoutQuery)"
    }
}
