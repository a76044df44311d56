import HTTPMessage
import TestSupport
import Testing

@testable import HTTP2Wire

/// A session under test, with all events and frames that have come of it.
final class Endpoint {
    let session: HTTP2Session
    var now = Duration.seconds(1)
    private(set) var events: [HTTP2Event] = []
    /// The content received of each stream.
    private(set) var content: [HTTP2StreamID: [UInt8]] = [:]
    /// Whether content is consumed as soon as it is received.
    var consumesContent = true
    /// Everything that was sent.
    private(set) var sent: [UInt8] = []

    init(_ role: HTTP2Session.Role, limits: HTTP2Limits = HTTP2Limits(), permitsExtendedConnect: Bool = false) throws {
        session = try #require(HTTP2Session(role: role, limits: limits, permitsExtendedConnect: permitsExtendedConnect))
    }

    /// A server whose client has sent its preface and acknowledged the settings.
    static func server(limits: HTTP2Limits = HTTP2Limits(), permitsExtendedConnect: Bool = false) throws -> Endpoint {
        let server = try Endpoint(.server, limits: limits, permitsExtendedConnect: permitsExtendedConnect)
        server.send()
        server.receive(Frame.preface)
        server.receive([.settings(), .settingsAcknowledgement])
        server.send()
        server.forget()
        return server
    }

    /// A client whose server has sent its preface and acknowledged the settings, and that has sent requests on streams 1, 3, …
    static func client(
        limits: HTTP2Limits = HTTP2Limits(), settings: [(id: UInt16, value: UInt32)] = [], requests: [Method] = []
    ) throws -> Endpoint {
        let client = try Endpoint(.client, limits: limits)
        client.send()
        client.receive([.settings(settings), .settingsAcknowledgement])
        client.send()
        for method in requests { _ = try client.request(method) }
        client.send()
        client.forget()
        return client
    }

    func request(_ method: Method, _ uri: String = "https://a.example/", endStream: Bool = true) throws -> HTTP2StreamID {
        let uri = Array(uri.utf8)
        let parsed = RequestHead(uri: uri.span, method: method)
        let head = try #require(parsed)
        return try session.submitRequest(head, endStream: endStream)
    }

    func receive(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { session.receive($0, at: now) }
        takeEvents(of: bytes)
    }

    func receive(_ frames: [Frame]) { receive(frames.flatMap(\.bytes)) }

    /// Takes what is to be sent.
    @discardableResult
    func send() -> [UInt8] {
        var output: [UInt8] = []
        session.outgoing(into: &output, limit: .max)
        takeEvents(of: [])
        sent += output
        return output
    }

    func forget() {
        events = []
        sent = []
    }

    var sentFrames: [Frame] {
        Frame.all(in: sent.starts(with: Frame.preface) ? Array(sent.dropFirst(Frame.preface.count)) : sent)
    }

    private func takeEvents(of bytes: [UInt8]) {
        while let event = session.nextEvent() {
            events.append(event)
            if case .data(let stream, let range) = event {
                content[stream, default: []] += bytes[range]
                if consumesContent { session.consumed(stream, range.count) }
            }
        }
    }
}

extension Reaction {
    init(of endpoint: Endpoint) { self.init(of: endpoint.sentFrames) }
}

extension ConformanceCase {
    /// A session that is ready for the bytes of the case.
    func endpoint() throws -> Endpoint {
        switch start {
        case .server: try Endpoint(.server)
        case .client: try Endpoint(.client)
        case .serverReady: try .server()
        case .serverReadyForExtendedConnect: try .server(permitsExtendedConnect: true)
        case .clientReady(let requests): try .client(requests: requests)
        }
    }
}

extension HTTP2Event {
    /// One line for comparisons and failures.
    var summary: String {
        switch self {
        case .requestHead(let stream, let head, let connect, let end):
            "\(stream) request \(head.fields.text(of: head.methodName)) \(head.fields.text(of: head.rawTarget))"
                + (connect.map { " :protocol \(head.fields.text(of: $0))" } ?? "") + Self.text(of: head.fields)
                + (end ? " end" : "")
        case .unacceptableTarget(let stream, let error, let end): "\(stream) unacceptable \(error.reason)\(end ? " end" : "")"
        case .headTooLarge(let stream, let end): "\(stream) head too large\(end ? " end" : "")"
        case .informationalHead(let stream, let head): "\(stream) informational \(head.status.code)\(Self.text(of: head.fields))"
        case .responseHead(let stream, let head, let end):
            "\(stream) response \(head.status.code)\(Self.text(of: head.fields))\(end ? " end" : "")"
        case .data(let stream, let range): "\(stream) data \(range.count)"
        case .trailers(let stream, let fields): "\(stream) trailers\(Self.text(of: fields))"
        case .end(let stream): "\(stream) end"
        case .reset(let stream, let code, let byPeer): "\(stream) reset \(code)\(byPeer ? " by peer" : "")"
        case .goAway(let last, let code): "goaway \(last) \(code)"
        case .settings: "settings"
        case .settingsAcknowledged: "settings acknowledged"
        case .pingAcknowledged(let number): "ping acknowledged \(number)"
        case .windowOpened(let stream): "\(stream) window"
        case .priority(let stream, let priority):
            "\(stream) priority \(priority.urgency)\(priority.isIncremental ? " incremental" : "")"
        case .limitExceeded(let limit): "limit \(limit.reason)"
        case .connectionFailed(let code, _): "failed \(code)"
        }
    }

    private static func text(of fields: Fields) -> String {
        fields.lines.map { " \(fields.text(of: $0.name))=\(fields.text(of: $0.value))" }.joined()
    }

    var isRequestHead: Bool { if case .requestHead = self { true } else { false } }
    var isResponseHead: Bool {
        switch self {
        case .responseHead, .informationalHead: true
        default: false
        }
    }
}

extension Endpoint {
    var summaries: [String] { events.map(\.summary) }
}
