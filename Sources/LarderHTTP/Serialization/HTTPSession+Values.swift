public import HTTPSerialization

extension HTTPSession {
    /// Sends a request, and decodes its response.
    ///
    /// Accept lists the types that the serializer accepts, unless the request sets Accept itself. The session's cache stores only a
    /// response that the serializer accepts, and removes a stored response that it refuses.
    /// - Throws: the errors of `send`, and the serializer's errors. If the serializer does not accept the status, the body is not decoded,
    ///   and the code is `unacceptable_status`. The error has the response with its body, which `SessionError.value(as:)` decodes.
    public func response<Serializer: ResponseSerializer>(
        _ request: SessionRequest, as serializer: Serializer, transfer: Transfer = Transfer()
    ) async throws(SessionError) -> ValueResponse<Serializer.Output> {
        let answersHEAD = request.method == .head
        let (response, value) = try await read(request.accepting(serializer.validation.acceptField), transfer) {
            response throws(SessionError) in
            try Reading(value: response.value(as: serializer, answersHEAD: answersHEAD), isAccepted: true)
        }
        return ValueResponse(value, of: response)
    }

    /// Sends a request, and decodes its JSON response as a value of this type.
    public func response<Value: Decodable & Sendable>(
        _ request: SessionRequest, as type: Value.Type, transfer: Transfer = Transfer()
    ) async throws(SessionError) -> ValueResponse<Value> {
        try await response(request, as: DecodableSerializer(type), transfer: transfer)
    }

    /// Sends a request, and decodes its response, or the body of an error response.
    ///
    /// `serializer` decides which statuses are accepted. If it does not accept the status, `problem` decodes the body: it may accept
    /// every type of content, and its own list of statuses is not used. Accept lists the types of both.
    /// - Throws: the errors of `response(_:as:transfer:)`. If neither serializer decodes the body of an error response, the code is
    ///   `unacceptable_status`, with the faults of `problem` as further causes.
    public func response<Serializer: ResponseSerializer, Problem: ResponseSerializer>(
        _ request: SessionRequest, as serializer: Serializer, or problem: Problem, transfer: Transfer = Transfer()
    ) async throws(SessionError) -> ValueOrProblem<Serializer.Output, Problem.Output> {
        typealias Made = Decoded<Serializer.Output, Problem.Output>
        let answersHEAD = request.method == .head
        let types = [serializer.validation.acceptField, problem.validation.acceptField].compactMap { $0 }
        // Without a list, the serializer accepts every type.
        let accept = serializer.validation.acceptField == nil || types.isEmpty ? nil : types.joined(separator: ", ")
        let (response, made) = try await read(request.accepting(accept), transfer) {
            response throws(SessionError) -> Reading<Made> in
            let refusal: SessionError
            do throws(SessionError) {
                let value = try response.value(as: serializer, answersHEAD: answersHEAD)
                return Reading(value: .value(value), isAccepted: true)
            } catch { refusal = error }
            guard refusal.code == .unacceptableStatus else { throw refusal }
            do throws(ResponseSerializationError) {
                let value = try response.head(answersHEAD: answersHEAD).value(response.body, ofAnyStatusAs: problem)
                return Reading(value: .problem(value), isAccepted: false)
            } catch {
                var both = refusal
                both.causes = [refusal.causes[0]] + SessionError.causes(of: error)
                throw both
            }
        }
        switch made {
        case .value(let value): return .value(ValueResponse(value, of: response))
        case .problem(let problem): return .problem(ValueResponse(problem, of: response))
        }
    }

    /// Sends a request, and decodes its JSON response as a value of one type, or the JSON body of an error response as a value of
    /// another type.
    public func response<Value: Decodable & Sendable, Problem: Decodable & Sendable>(
        _ request: SessionRequest, as type: Value.Type, or problem: Problem.Type, transfer: Transfer = Transfer()
    ) async throws(SessionError) -> ValueOrProblem<Value, Problem> {
        try await response(request, as: DecodableSerializer(type), or: DecodableSerializer(problem), transfer: transfer)
    }

    /// The value of `response(_:as:transfer:)`, without its response.
    public func value<Serializer: ResponseSerializer>(
        _ request: SessionRequest, as serializer: Serializer, transfer: Transfer = Transfer()
    ) async throws(SessionError) -> Serializer.Output {
        try await response(request, as: serializer, transfer: transfer).value
    }

    /// The value of `response(_:as:transfer:)` for a `Decodable` type, without its response.
    public func value<Value: Decodable & Sendable>(
        _ request: SessionRequest, as type: Value.Type, transfer: Transfer = Transfer()
    ) async throws(SessionError) -> Value {
        try await response(request, as: type, transfer: transfer).value
    }
}

extension SessionError {
    /// Decodes the body of a response that a serializer refused, for example the JSON object that explains a 404. The response's type
    /// must be acceptable to the serializer; its list of statuses is not used.
    /// - Returns: `nil` if the error is not about such a response, or the body cannot be decoded.
    public func value<Serializer: ResponseSerializer>(as serializer: Serializer) -> Serializer.Output? {
        guard underlying is ResponseSerializationError, let response else { return nil }
        let head = ReceivedHead(status: response.status, contentTypes: response.fields.values(of: "Content-Type"))
        // A body that cannot be decoded has no value, and this error already says why the response was refused.
        return try? head.value(partialBody, ofAnyStatusAs: serializer)
    }

    /// Decodes the JSON body of a response that a serializer refused.
    /// - Returns: `nil` if the error is not about such a response, or the body cannot be decoded.
    public func value<Value: Decodable & Sendable>(as type: Value.Type) -> Value? { value(as: DecodableSerializer(type)) }

    fileprivate init(_ error: ResponseSerializationError, _ response: SessionResponse) {
        self.init(.responseSerialization)
        causes = Self.causes(of: error)
        underlying = error
        self.response = Response(status: response.status, fields: response.fields, uri: response.uri)
        partialBody = response.body
    }

    fileprivate static func causes(of error: ResponseSerializationError) -> [Cause] {
        error.faults.map { fault in
            Cause(code: Code(rawValue: fault.code.rawValue) ?? .responseSerialization, detail: fault.detail)
        }
    }
}

/// The content of a response, as one serializer or the other decoded it.
private enum Decoded<Value: Sendable, Problem: Sendable>: Sendable {
    case value(Value)
    case problem(Problem)
}

extension SessionResponse {
    fileprivate func head(answersHEAD: Bool) -> ReceivedHead {
        ReceivedHead(
            status: status, contentTypes: fields.values(of: "Content-Type"), method: answersHEAD ? "HEAD" : "GET")
    }

    fileprivate func value<Serializer: ResponseSerializer>(as serializer: Serializer, answersHEAD: Bool)
        throws(SessionError) -> Serializer.Output
    {
        let head = head(answersHEAD: answersHEAD)
        do throws(ResponseSerializationError) {
            let faults = serializer.validation.faults(of: head, hasBody: !body.isEmpty)
            // The body of an error response is seldom of the type that the caller wants: the status alone is the fault.
            if faults.contains(where: { $0.code == .unacceptableStatus }) {
                throw ResponseSerializationError(faults: faults, status: status)
            }
            return try serializer.serialize(head, body).get()
        } catch { throw SessionError(error, self) }
    }
}

extension ReceivedHead {
    /// The value of a body, whatever the status.
    fileprivate func value<Serializer: ResponseSerializer>(_ body: [UInt8], ofAnyStatusAs serializer: Serializer)
        throws(ResponseSerializationError) -> Serializer.Output
    {
        var validation = serializer.validation
        validation.statuses = []
        let faults = validation.faults(of: self, hasBody: !body.isEmpty)
        if !faults.isEmpty { throw ResponseSerializationError(faults: faults, status: status) }
        do throws(ResponseFault) { return try serializer.decode(body, of: self) } catch {
            throw ResponseSerializationError(faults: [error], status: status)
        }
    }
}

extension SessionRequest {
    /// The request with these types in Accept, unless it has its own Accept.
    fileprivate func accepting(_ types: String?) -> SessionRequest {
        guard let types, !fields.contains("Accept") else { return self }
        var request = self
        request.fields["Accept"] = types
        return request
    }
}
