import HTTP2Wire
import HTTPMessage
import TestSupport
import Testing

/// A client with HTTP/2 over an open connection, with blocking calls.
final class HTTP2Client {
    struct Response {
        var informational: [Int] = []
        var status = 0
        var fields = Fields()
        var body: [UInt8] = []
        var trailers: Fields?
        var reset: HTTP2ErrorCode?
        var hasEnded = false
        var text: String { String(decoding: body, as: UTF8.self) }

        func value(_ name: String) -> String? {
            fields.value(ofAllLinesNamed: Array(name.utf8)).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    let client: RawClient
    let session: HTTP2Session
    private let start = ContinuousClock.now
    private(set) var responses: [HTTP2StreamID: Response] = [:]
    private(set) var goAway: HTTP2ErrorCode?
    /// Whether received content is released, so that the server may send more.
    var releases = true

    init(_ client: RawClient, limits: HTTP2Limits = HTTP2Limits()) throws {
        self.client = client
        session = try #require(HTTP2Session(role: .client, limits: limits))
        flush()
    }

    // MARK: Sending

    func flush() {
        var output: [UInt8] = []
        session.outgoing(into: &output, limit: .max)
        if !output.isEmpty { client.send(bytes: output) }
    }

    /// Begins a request for a URI.
    func begin(
        _ method: String, _ uri: String, _ fields: [(String, String)] = [], extendedConnect: String? = nil,
        hasContent: Bool = false
    ) throws -> HTTP2StreamID {
        let bytes = Array(uri.utf8)
        let known = extendedConnect == nil ? Method(Array(method.utf8).span) : .get
        let parsed = RequestHead(uri: bytes.span, method: known)
        var head = try #require(parsed)
        head.method = Method(Array(method.utf8).span)
        head.methodName = head.fields.appendBytes(Array(method.utf8).span)
        for (name, value) in fields { head.fields.append(name: Array(name.utf8).span, value: Array(value.utf8).span) }
        let proto = extendedConnect.map { Array($0.utf8) }
        let stream =
            if let proto {
                try session.submitRequest(head, extendedConnect: proto.span, endStream: false)
            } else {
                try session.submitRequest(head, endStream: !hasContent)
            }
        responses[stream] = Response()
        flush()
        return stream
    }

    func send(_ content: [UInt8], on stream: HTTP2StreamID, end: Bool = false) throws {
        var rest = content[...]
        repeat {
            let taken = try rest.withUnsafeBytes { bytes throws(HTTP2SubmitError) in
                try session.submitData(stream, bytes, end: end)
            }
            rest = rest.dropFirst(taken)
            flush()
            if !rest.isEmpty, session.capacity(of: stream) == 0 { try receive() }
        } while !rest.isEmpty
    }

    // MARK: Receiving

    /// Waits for bytes of the server and reads them.
    func receive() throws {
        if !(try client.receive()) { throw client.fault(.closed) }
        let bytes = client.takeHeld()
        bytes.withUnsafeBytes { session.receive($0, at: start.duration(to: .now)) }
        while let event = session.nextEvent() { note(event, of: bytes) }
        flush()
        // A stream that this side resets ends when its reset is sent.
        while let event = session.nextEvent() { note(event, of: []) }
    }

    private func note(_ event: HTTP2Event, of bytes: [UInt8]) {
        switch event {
        case .informationalHead(let stream, let head): responses[stream]?.informational.append(Int(head.status.code))
        case .responseHead(let stream, let head, let endStream):
            responses[stream]?.status = Int(head.status.code)
            responses[stream]?.fields = head.fields
            if endStream { responses[stream]?.hasEnded = true }
        case .data(let stream, let range):
            responses[stream]?.body += bytes[range]
            if releases { session.consumed(stream, range.count) }
        case .trailers(let stream, let trailers): responses[stream]?.trailers = trailers
        case .end(let stream): responses[stream]?.hasEnded = true
        case .reset(let stream, let code, _): responses[stream]?.reset = code
        case .goAway(_, let code): goAway = code
        default: break
        }
    }

    func response(on stream: HTTP2StreamID) -> Response { responses[stream] ?? Response() }

    /// Waits for the end of the response, or a reset.
    func readResponse(on stream: HTTP2StreamID) throws -> Response {
        while true {
            let response = response(on: stream)
            if response.hasEnded || response.reset != nil { return response }
            try receive()
        }
    }

    /// Waits for the final head of the response.
    func readHead(on stream: HTTP2StreamID) throws -> Response {
        while response(on: stream).status == 0, response(on: stream).reset == nil { try receive() }
        return response(on: stream)
    }

    /// Waits until the response has as many bytes of content.
    func read(_ count: Int, on stream: HTTP2StreamID) throws -> String {
        while response(on: stream).body.count < count, response(on: stream).reset == nil { try receive() }
        return response(on: stream).text
    }

    /// Waits for GOAWAY, or the end of the connection.
    func readGoAway() throws -> HTTP2ErrorCode? {
        while goAway == nil {
            do { try receive() } catch { return goAway }
        }
        return goAway
    }

    func fetch(
        _ uri: String, method: String = "GET", _ fields: [(String, String)] = [], content: [UInt8]? = nil
    ) throws -> Response {
        let stream = try begin(method, uri, fields, hasContent: content != nil)
        if let content { try send(content, on: stream, end: true) }
        return try readResponse(on: stream)
    }
}
