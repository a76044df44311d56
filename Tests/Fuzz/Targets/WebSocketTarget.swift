import WebSocketWire

extension FuzzTarget {
    /// A server's frames give the same events, and the same fault, with every cut. Messages are within the limits, texts are UTF-8, and
    /// what is written again is read as the same messages. The first byte selects the side, the compression and the limits.
    package static let webSocket = FuzzTarget("WebSocket") { bytes in
        guard let choice = bytes.first else { return nil }
        let frames = Array(bytes.dropFirst())
        var limits = WebSocketLimits()
        if choice & 1 != 0 { (limits.messageLength, limits.frameLength, limits.frameCount) = (64, 48, 4) }
        (limits.ratio, limits.ratioFloor) = (8, 4096)
        var compression: DeflateParameters?
        if choice & 2 != 0 {
            var parameters = DeflateParameters()
            parameters.serverKeepsContext = choice & 4 != 0
            parameters.serverWindowBits = choice & 8 != 0 ? 8 : 15
            (parameters.clientKeepsContext, parameters.clientWindowBits) = (
                parameters.serverKeepsContext, parameters.serverWindowBits
            )
            compression = parameters
        }
        let role: WebSocketRole = choice & 16 != 0 ? .server : .client
        func read(_ ends: [Int]) -> ReadFramesOfWebSocket { ReadFramesOfWebSocket(frames, ends, role, limits, compression) }
        let whole = read([frames.count])
        if read(Cuts.each(of: frames.count)) != whole { return "byte by byte differs" }
        if read(Cuts.some(of: frames)) != whole { return "in pieces differs" }
        return whole.check(limits) ?? whole.written(compression)
    }
}

/// The events of one connection, up to a fault.
private struct ReadFramesOfWebSocket: Equatable {
    var events: [WebSocketReader.Event] = []
    var fault: WebSocketFault?

    init(_ bytes: [UInt8], _ ends: [Int], _ role: WebSocketRole, _ limits: WebSocketLimits, _ compression: DeflateParameters?) {
        let reader = WebSocketReader(role, limits: limits, compression: compression)
        var start = 0
        for end in ends {
            let piece = Array(bytes[start..<end])
            start = end
            var offset = 0
            do throws(WebSocketFault) {
                while let event = try reader.next(piece.span, from: &offset) { events.append(event) }
            } catch {
                fault = error
                return
            }
        }
    }

    func check(_ limits: WebSocketLimits) -> String? {
        for (index, event) in events.enumerated() {
            switch event {
            case .message(let message):
                if message.bytes.count > limits.messageLength { return "a message above the limit" }
                if case .text(let bytes) = message, String(validating: bytes, as: UTF8.self) == nil {
                    return "a text that is not UTF-8"
                }
            case .ping(let payload), .pong(let payload): if payload.count > 125 { return "a long control frame" }
            case .close(let closing):
                if index < events.count - 1 { return "an event after a Close frame" }
                guard let closing else { continue }
                if !WebSocketClosing.isPermitted(closing.code) { return "a code that is never sent" }
                if String(validating: closing.reason, as: UTF8.self) == nil { return "a reason that is not UTF-8" }
            }
        }
        return nil
    }

    /// Writes the messages as a server, and reads them.
    func written(_ compression: DeflateParameters?) -> String? {
        let hasMessages = events.contains { if case .message = $0 { true } else { false } }
        if !hasMessages { return nil }
        let writer = WebSocketWriter(.server, compression: compression, fragmentLength: 20) { 0 }
        let reader = WebSocketReader(.client, compression: compression)
        for case .message(let message) in events {
            var output: [UInt8] = []
            writer.write(message, into: &output)
            var offset = 0
            guard let event = try? reader.next(output.span, from: &offset), event == .message(message), offset == output.count
            else {
                return "a message is another one after it was written and read again"
            }
        }
        return nil
    }
}
