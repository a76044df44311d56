import HTTP2Wire

/// The server's side of a connection with HTTP/2 that sends any frames, used by a script of `ScriptedOrigin` with blocking calls.
package struct FrameServer {
    private var reader = FrameReader(isServer: true)
    /// How many frames `readRequest` has looked at.
    private var examinedCount = 0

    package init() {}

    package var frames: [Frame] { reader.frames }
    package var hasEnded: Bool { reader.hasEnded }

    /// Reads until a frame fits; returns `nil` if the client closes first.
    @discardableResult
    package mutating func read(on connection: borrowing OriginConnection, until fits: (Frame) -> Bool) -> Frame? {
        while true {
            if let frame = reader.take(until: fits) { return frame }
            if reader.hasEnded { return nil }
            reader.append(connection.readSome())
        }
    }

    /// Exchanges the settings.
    package mutating func begin(on connection: borrowing OriginConnection, _ settings: [(id: UInt16, value: UInt32)] = []) {
        connection.send([.settings(settings)])
        read(on: connection) { $0.type == 4 && $0.flags == 0 }
        connection.send([.settingsAcknowledgement])
    }

    /// Waits for the next request without content.
    /// - Returns: its stream; `nil` if the client closes first.
    package mutating func readRequest(on connection: borrowing OriginConnection) -> UInt32? {
        while true {
            while examinedCount < frames.count {
                let frame = frames[examinedCount]
                examinedCount += 1
                if frame.type == 1, frame.endsStream { return frame.stream }
            }
            let known = examinedCount
            if read(on: connection, until: { _ in true }) == nil, frames.count == known { return nil }
        }
    }

    /// The content of responses that no case has.
    package static let soundContent = "sound"

    /// Answers each request properly, until the client closes.
    package mutating func serve(_ connection: borrowing OriginConnection) {
        while let stream = readRequest(on: connection) {
            connection.send([
                .headers(stream, [(":status", "200"), ("cache-control", "no-store")], end: false),
                .data(stream, Self.soundContent, flags: Frame.endStream),
            ])
        }
    }

    /// Sends bytes and reads until the client has handled them: until it has acknowledged PING, said GOAWAY with an error, or closed.
    package mutating func react(to bytes: [UInt8], on connection: borrowing OriginConnection) -> Reaction {
        let known = frames.count
        connection.send(bytes: bytes + Frame.ping("behind-1").bytes)
        // The first acknowledgement may precede other frames that the bytes have caused.
        if readAcknowledgement("behind-1", on: connection) {
            connection.send([.ping("behind-2")])
            _ = readAcknowledgement("behind-2", on: connection)
        }
        // An exchange that needs no more of its stream ends it with one of these codes.
        let reaction = Reaction(of: Array(frames[known...]), ignoring: [.noError, .cancel])
        if case .connectionError = reaction { read(on: connection) { _ in false } }
        return reaction
    }

    private mutating func readAcknowledgement(_ text: String, on connection: borrowing OriginConnection) -> Bool {
        let payload = Array(text.utf8)
        let found = read(on: connection) { frame in
            frame.isPingAcknowledgement && frame.payload == payload || frame.goAwayCode.map { $0 != .noError } == true
        }
        return found?.type == 6
    }
}

extension OriginConnection {
    /// - Returns: `false` if the client accepts no more.
    @discardableResult
    package func send(_ frames: [Frame]) -> Bool { send(bytes: frames.flatMap(\.bytes)) }
}
