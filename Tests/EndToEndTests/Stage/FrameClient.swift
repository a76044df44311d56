import HTTP2Wire
import TestSupport

/// A client with HTTP/2 that sends any bytes and reads the frames of the proxy, with blocking calls.
final class FrameClient {
    let client: RawClient
    private var reader = FrameReader(isServer: false)
    private var pingCount = 0

    var frames: [Frame] { reader.frames }
    var hasEnded: Bool { reader.hasEnded }

    init(_ client: RawClient) { self.client = client }

    /// Sends the preface and exchanges the settings.
    func begin(_ settings: [(id: UInt16, value: UInt32)] = []) throws {
        client.send(bytes: Frame.preface + Frame.settings(settings).bytes)
        try read { $0.type == 4 && $0.flags == 0 }
        send(.settingsAcknowledgement)
    }

    func send(_ frames: Frame...) { send(frames) }

    func send(_ frames: [Frame]) { client.send(bytes: frames.flatMap(\.bytes)) }

    /// Reads until a frame fits; returns `nil` if the proxy closes the connection first.
    @discardableResult
    func read(until fits: (Frame) -> Bool) throws -> Frame? {
        while true {
            if let frame = reader.take(until: fits) { return frame }
            if reader.hasEnded { return nil }
            reader.append(try receive())
        }
    }

    private func receive() throws -> [UInt8]? {
        do {
            return try client.receive() ? client.takeHeld() : nil
        } catch let fault as ClientFault where fault.reason == .reset {
            return nil
        }
    }

    /// Waits for the end of the stream.
    func readEnd(of stream: UInt32) throws {
        func ends(_ frame: Frame) -> Bool { frame.stream == stream && (frame.endsStream || frame.type == 3) }
        if !frames.contains(where: ends) { try read(until: ends) }
    }

    /// Sends bytes and reads until the proxy has handled them: until it has acknowledged PING, said GOAWAY with an error, or closed.
    func react(to bytes: [UInt8]) throws -> Reaction {
        client.send(bytes: bytes + nextPing().bytes)
        // The first acknowledgement may precede other frames that the bytes have caused.
        if try readAcknowledgement() {
            send(nextPing())
            _ = try readAcknowledgement()
        }
        // A request that needs no more content ends with NO_ERROR (RFC 9113 §8.1).
        let reaction = Reaction(of: frames, ignoring: [.noError])
        if case .connectionError = reaction { try read { _ in false } }
        return reaction
    }

    /// Eight bytes.
    private var pingText: String { "ping\(1000 + pingCount)" }

    private func nextPing() -> Frame {
        pingCount += 1
        return .ping(pingText)
    }

    private func readAcknowledgement() throws -> Bool {
        let expected = Array(pingText.utf8)
        let found = try read { frame in
            frame.isPingAcknowledgement && frame.payload == expected || frame.goAwayCode.map { $0 != .noError } == true
        }
        return found?.type == 6
    }

    /// Sends a request for the path and waits for the whole response.
    /// - Returns: whether its status was 200, and its content.
    func fetch(_ path: String, on stream: UInt32) throws -> (isOK: Bool, content: String) {
        send(.headers(stream, FieldBlock.get.dropLast() + [(":path", path)]))
        try readEnd(of: stream)
        let frames = frames.filter { $0.stream == stream }
        // 200 has an index of its own in the static table. A change of the table's size may precede it.
        let status = frames.first { $0.type == 1 }?.payload.first { $0 & 0xE0 != 0x20 }
        let content = frames.filter { $0.type == 0 }.flatMap(\.payload)
        return (status == 0x88 && frames.last?.endsStream == true, String(decoding: content, as: UTF8.self))
    }
}
