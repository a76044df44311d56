public import LarderHTTP
import HTTPSerialization

/// What a scripted network sends for a request: a response, a part of one, or a failure; at once or after a delay in virtual time.
public struct ScriptedReply: Sendable {
    /// The status code, from 200 to 999.
    public var status: Int
    /// The fields of the response. The network adds Content-Length unless there are trailers, or one of the fields describes the length.
    public var fields: SessionFields
    /// The content.
    public var body: [UInt8]
    /// The fields after the content.
    public var trailers = SessionFields()
    /// The time from the request to the head of the response, or to the failure.
    public var delay: Duration = .zero

    /// The error that replaces the response.
    var failure: SessionError?
    /// The pauses in the content: the number of bytes before each, and its duration.
    var pauses: [(offset: Int, duration: Duration)] = []
    /// The number of bytes after which the connection ends.
    var cutOffset: Int?

    /// A response.
    public init(_ status: Int = 200, fields: SessionFields = SessionFields(), body: [UInt8] = []) {
        precondition((200...999).contains(status), "\(status) is not the status of a final response")
        self.status = status
        self.fields = fields
        self.body = body
    }

    // MARK: Responses

    /// A response without content.
    public static func status(_ status: Int, fields: SessionFields = SessionFields()) -> ScriptedReply {
        ScriptedReply(status, fields: fields)
    }

    /// A response with this text, in UTF-8.
    public static func text(
        _ text: String, status: Int = 200, contentType: String = "text/plain; charset=utf-8"
    ) -> ScriptedReply {
        ScriptedReply(status, fields: ["Content-Type": contentType], body: Array(text.utf8))
    }

    /// A response with this JSON text, which may be malformed.
    public static func json(_ text: String, status: Int = 200) -> ScriptedReply {
        Self.text(text, status: status, contentType: "application/json")
    }

    /// A response with a value as JSON.
    /// - Throws: the errors of encoding.
    public static func json(encoding value: some Encodable, status: Int = 200) throws -> ScriptedReply {
        json("\(try JSONValueEncoder().encode(value))", status: status)
    }

    /// A redirect.
    public static func redirect(to location: String, status: Int = 302) -> ScriptedReply {
        ScriptedReply(status, fields: ["Location": location])
    }

    // MARK: Failures

    /// The transfer fails with this code before a response arrives.
    public static func failure(_ code: SessionError.Code, _ detail: String = "scripted") -> ScriptedReply {
        failing(SessionError(code, detail))
    }

    /// The server accepts no connection.
    public static let refused = failure(.connectionRefused)
    /// The name of the host has no address.
    public static let unknownHost = failure(.dnsError)
    /// The server closes the connection before it responds.
    public static let reset = failure(.connectionTerminated)
    /// The response does not arrive in time; the clock moves by the timeout for the first byte.
    public static let timeout = failing(.timedOut(.firstByte)).delayed(by: .seconds(1_000_000_000))

    static func failing(_ error: SessionError) -> ScriptedReply {
        var reply = ScriptedReply()
        reply.failure = error
        return reply
    }

    // MARK: Changes

    /// The same reply, later.
    public func delayed(by duration: Duration) -> ScriptedReply {
        var reply = self
        reply.delay += duration
        return reply
    }

    /// The same reply, with a pause after this many bytes of its content.
    public func pausing(for duration: Duration, after offset: Int) -> ScriptedReply {
        var reply = self
        reply.pauses.append((offset, duration))
        return reply
    }

    /// The same reply, whose connection ends after this many bytes of its content.
    public func cut(after offset: Int) -> ScriptedReply {
        var reply = self
        reply.cutOffset = offset
        return reply
    }

    /// The same reply with these fields, which replace those of the same names.
    public func with(fields: SessionFields) -> ScriptedReply {
        var reply = self
        reply.fields.override(with: fields)
        return reply
    }
}
