import HTTP2Wire
import HTTPMessage

/// All events of an HTTP/2 session for bytes given in pieces.
package struct ReadFrames: Equatable {
    /// One line for each event. The content of a stream counts as one, where its first byte was received.
    package var events: [String] = []
    package var content: [HTTP2StreamID: [UInt8]] = [:]
    package var requests: [RequestHead] = []
    package var responses: [ResponseHead] = []
    /// What is sent in response to the bytes.
    package var output: [UInt8] = []
    /// GOAWAY was received. libnghttp2 then reads to the end of the bytes it has, and no further bytes if no stream is open.
    private var isLeaving = false
    private var ended: Set<HTTP2StreamID> = []

    package static func == (left: ReadFrames, right: ReadFrames) -> Bool {
        guard left.events == right.events, left.content == right.content, left.isLeaving == right.isLeaving else { return false }
        return left.isLeaving || left.output == right.output
    }

    /// - Parameter ends: how much of the bytes has been received at each read.
    package init?(_ octets: [UInt8], ends: [Int], role: HTTP2Session.Role, limits: HTTP2Limits) {
        guard let session = HTTP2Session(role: role, limits: limits, permitsExtendedConnect: true) else { return nil }
        Self.begin(session)
        var start = 0
        for end in ends {
            octets.withUnsafeBytes { bytes in
                let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                session.receive(piece, at: .seconds(1))
                note(eventsOf: session, piece)
            }
            start = end
        }
        session.outgoing(into: &output, limit: .max)
        note(eventsOf: session, UnsafeRawBufferPointer(start: nil, count: 0))
        // How much is reported of content that turns out to be malformed depends on the pieces.
        for stream in content.keys where !ended.contains(stream) {
            content[stream] = nil
            events.removeAll { $0 == "data of \(stream)" }
        }
    }

    /// Exchanges prefaces and settings, and sends a client's requests.
    private static func begin(_ session: HTTP2Session) {
        var output: [UInt8] = []
        session.outgoing(into: &output, limit: .max)
        let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0] + [0, 0, 0, 4, 1, 0, 0, 0, 0]
        let preface = session.role == .server ? Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) : []
        (preface + settings).withUnsafeBytes { session.receive($0, at: .seconds(1)) }
        if session.role == .client {
            for (method, uri) in [(Method.get, "https://a/"), (.head, "https://a/"), (.connect, "a:443"), (.post, "https://a/")] {
                let bytes = Array(uri.utf8)
                guard let head = RequestHead(uri: bytes.span, method: method) else { continue }
                _ = try? session.submitRequest(head, endStream: method == .get || method == .head)  // the server permits it
            }
        }
        session.outgoing(into: &output, limit: .max)
        while session.nextEvent() != nil {}
    }

    private mutating func note(eventsOf session: HTTP2Session, _ piece: UnsafeRawBufferPointer) {
        while let event = session.nextEvent() { note(event, piece) }
    }

    private mutating func note(_ event: HTTP2Event, _ piece: UnsafeRawBufferPointer) {
        if isLeaving { return }
        switch event {
        case .goAway(let last, _):
            events.append("goaway \(last)")
            isLeaving = true
        case .data(let stream, let range):
            if content[stream] == nil { events.append("data of \(stream)") }
            content[stream, default: []] += piece[range]
        case .requestHead(let stream, let head, let connect, let end):
            events.append("request of \(stream) \(Self.text(head.fields)) \(connect != nil) \(end)")
            if connect == nil { requests.append(head) }
        case .responseHead(let stream, let head, let end):
            events.append("response of \(stream) \(head.status.code) \(Self.text(head.fields)) \(end)")
            responses.append(head)
        case .informationalHead(let stream, let head):
            events.append("informational of \(stream) \(head.status.code) \(Self.text(head.fields))")
            responses.append(head)
        case .end(let stream):
            events.append("end of \(stream)")
            ended.insert(stream)
        case .trailers(let stream, let fields): events.append("trailers of \(stream) \(Self.text(fields))")
        default: events.append("\(event)")
        }
    }

    private static func text(_ fields: Fields) -> String {
        fields.lines.map { "\(fields.text(of: $0.name)): \(fields.text(of: $0.value))" }.joined(separator: ", ")
    }
}

extension HTTP2Limits {
    /// The default limits, or some so small that short inputs exceed them.
    package static func chosen(by octets: [UInt8]) -> HTTP2Limits {
        var limits = HTTP2Limits()
        if Cuts.hash(of: octets) >> 60 & 1 == 0 { return limits }
        limits.concurrentStreams = 20
        limits.headerListBytes = 300
        limits.fieldCount = 8
        limits.continuationFrames = 2
        limits.emptyDataFrames = 3
        limits.settingsFrames = 6
        limits.pingFrames = 4
        limits.resetStreams = 4
        limits.windowUpdateFrames = 4
        limits.otherFrames = 4
        limits.queuedControlFrames = 3
        return limits
    }
}
