public import Foundation
public import LarderHTTP

// Each verb exists twice: with a value as the result, and with the response. Values are encoded on the caller's actor, before the
// request is sent, so they need not be `Sendable`.
extension HTTPSession {
    /// Sends a request with values as JSON, and decodes the JSON of its response.
    /// - Parameters:
    ///   - method: the method.
    ///   - url: the target; relative to `SessionConfiguration.base` if it has no scheme.
    ///   - query: an object whose members are added to the query.
    ///   - body: the content, sent as `application/json`; `nil`: no content.
    ///   - type: the type of the result.
    ///   - coding: the strategies of both directions.
    ///   - fields: the fields of the request.
    /// - Throws: `request_serialization` if a value cannot be encoded, and the errors of `value(_:as:)`.
    public nonisolated(nonsending) func value<Value: Decodable & Sendable>(
        _ method: HTTPMethod, _ url: URL, query: (any Encodable)? = nil, json body: (any Encodable)? = nil,
        as type: Value.Type = Value.self, coding: JSONCoding = JSONCoding(), fields: SessionFields = SessionFields()
    ) async throws(SessionError) -> Value {
        let request = try SessionRequest(method, url, query: query, json: body, coding: coding, fields: fields)
        return try await value(request, as: JSONDecoderSerializer(type, coding: coding))
    }

    /// Sends a request with values as JSON, and returns the response whatever its status is.
    public nonisolated(nonsending) func send(
        _ method: HTTPMethod, _ url: URL, query: (any Encodable)? = nil, json body: (any Encodable)? = nil,
        coding: JSONCoding = JSONCoding(), fields: SessionFields = SessionFields()
    ) async throws(SessionError) -> SessionResponse {
        try await send(SessionRequest(method, url, query: query, json: body, coding: coding, fields: fields))
    }

    /// Sends a GET request, and decodes the JSON of its response.
    public nonisolated(nonsending) func get<Value: Decodable & Sendable>(
        _ url: URL, query: (any Encodable)? = nil, as type: Value.Type = Value.self, coding: JSONCoding = JSONCoding()
    ) async throws(SessionError) -> Value {
        try await value(.get, url, query: query, as: type, coding: coding)
    }

    /// Sends a HEAD request, whose response has no content.
    public nonisolated(nonsending) func head(
        _ url: URL, query: (any Encodable)? = nil
    ) async throws(SessionError) -> SessionResponse {
        try await send(.head, url, query: query)
    }

    /// Sends a POST request with a value as JSON, and decodes the JSON of its response.
    public nonisolated(nonsending) func post<Value: Decodable & Sendable>(
        _ url: URL, json body: any Encodable, as type: Value.Type = Value.self, coding: JSONCoding = JSONCoding()
    ) async throws(SessionError) -> Value {
        try await value(.post, url, json: body, as: type, coding: coding)
    }

    /// Sends a POST request with a value as JSON, and returns the response whatever its status is.
    @discardableResult
    public nonisolated(nonsending) func post(
        _ url: URL, json body: any Encodable, coding: JSONCoding = JSONCoding()
    ) async throws(SessionError) -> SessionResponse {
        try await send(.post, url, json: body, coding: coding)
    }

    /// Sends a PUT request with a value as JSON, and decodes the JSON of its response.
    public nonisolated(nonsending) func put<Value: Decodable & Sendable>(
        _ url: URL, json body: any Encodable, as type: Value.Type = Value.self, coding: JSONCoding = JSONCoding()
    ) async throws(SessionError) -> Value {
        try await value(.put, url, json: body, as: type, coding: coding)
    }

    /// Sends a PUT request with a value as JSON, and returns the response whatever its status is.
    @discardableResult
    public nonisolated(nonsending) func put(
        _ url: URL, json body: any Encodable, coding: JSONCoding = JSONCoding()
    ) async throws(SessionError) -> SessionResponse {
        try await send(.put, url, json: body, coding: coding)
    }

    /// Sends a PATCH request with a value as JSON, and decodes the JSON of its response.
    public nonisolated(nonsending) func patch<Value: Decodable & Sendable>(
        _ url: URL, json body: any Encodable, as type: Value.Type = Value.self, coding: JSONCoding = JSONCoding()
    ) async throws(SessionError) -> Value {
        try await value(.patch, url, json: body, as: type, coding: coding)
    }

    /// Sends a PATCH request with a value as JSON, and returns the response whatever its status is.
    @discardableResult
    public nonisolated(nonsending) func patch(
        _ url: URL, json body: any Encodable, coding: JSONCoding = JSONCoding()
    ) async throws(SessionError) -> SessionResponse {
        try await send(.patch, url, json: body, coding: coding)
    }

    /// Sends a DELETE request with a value as JSON, and decodes the JSON of its response.
    public nonisolated(nonsending) func delete<Value: Decodable & Sendable>(
        _ url: URL, json body: (any Encodable)? = nil, as type: Value.Type = Value.self, coding: JSONCoding = JSONCoding()
    ) async throws(SessionError) -> Value {
        try await value(.delete, url, json: body, as: type, coding: coding)
    }

    /// Sends a DELETE request with a value as JSON, and returns the response whatever its status is.
    @discardableResult
    public nonisolated(nonsending) func delete(
        _ url: URL, json body: (any Encodable)? = nil, coding: JSONCoding = JSONCoding()
    ) async throws(SessionError) -> SessionResponse {
        try await send(.delete, url, json: body, coding: coding)
    }
}
