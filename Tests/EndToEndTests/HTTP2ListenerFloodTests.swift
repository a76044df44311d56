import CLarderLinux
import HTTP2Wire
import TestSupport
import Testing

@Suite("Floods in HTTP/2 from clients (RFC 9113 §10.5)")
struct HTTP2ListenerFloodTests {
    @Test(
        "A client that sends too many frames of a kind loses its connection, and another client is served",
        arguments: Flood.ofClients.indices)
    func ends(index: Int) throws {
        let flood = Flood.ofClients[index]
        let stage = try ConformanceStage(.plainListener)
        let other = try stage.client()
        let client = try stage.frameClient()
        try client.begin()
        try send(flood, flood.excessive, by: client)
        try client.read { _ in false }
        #expect(client.hasEnded && client.frames.last?.goAwayCode == .enhanceYourCalm, "\(flood)")
        #expect(try stage.serves(other), "\(flood)")
        // One more than the limit can have had an effect: the one that exceeds it.
        #expect(client.frames.count { $0.type == 3 } <= flood.limit + 1, "\(flood): resets")
        #expect(client.frames.count { $0.isPingAcknowledgement } <= flood.limit, "\(flood): acknowledgements of PING")
        #expect(client.frames.count { $0.type == 4 } <= flood.limit + 2, "\(flood): acknowledgements of SETTINGS")
        stage.stop()
        #expect(stage.forwardedCount <= flood.limit + 1 && stage.completedCount <= flood.limit + 1, "\(flood)")
    }

    @Test("A client that sends as many frames of a kind as the limit keeps its connection", arguments: Flood.ofClients.indices)
    func permits(index: Int) throws {
        let flood = Flood.ofClients[index]
        // A head that never ends permits nothing behind it.
        if flood.description.hasPrefix("CONTINUATION") { return }
        let stage = try ConformanceStage(.plainListener)
        let client = try stage.frameClient()
        try client.begin()
        try send(flood, flood.permitted, by: client)
        let next = try client.fetch(ConformanceStage.soundPath, on: 1001)
        #expect(next.isOK, "\(flood)")
    }

    private func send(_ flood: Flood, _ units: [[Frame]], by client: FrameClient) throws {
        client.send(flood.before)
        guard flood.endsStreams else { return client.send(units.flatMap(\.self)) }
        for unit in units where !client.hasEnded {
            client.send(unit)
            try client.readEnd(of: unit[0].stream)
        }
    }

    @Test("Heads above the limit, and heads that are small only while compressed, get 431, and the memory stays bounded")
    func boundsHeads() throws {
        let stage = try ConformanceStage(.plainListener)
        let client = try stage.frameClient()
        try client.begin()
        let long = (0..<20).map { Frame.longHead($0 * 2 + 1, FieldBlock.get).flatMap(\.bytes) }
        let bombs = (20..<40).map { number in
            Frame.headers(
                number * 2 + 1, block: FieldBlock.bomb(after: FieldBlock.get), flags: Frame.endHeaders | Frame.endStream
            ).bytes
        }
        let other = try stage.client()
        #expect(try stage.serves(other))
        let before = allocatedBytes()
        var peak = 0
        for (number, bytes) in (long + bombs).enumerated() {
            client.client.send(bytes: bytes)
            try client.readEnd(of: UInt32(number) * 2 + 1)
            peak = max(peak, allocatedBytes() - before)
        }
        #expect(client.frames.count { $0.type == 1 } == 40 && client.frames.allSatisfy { $0.type != 3 })
        #expect(peak < 8 << 20, "2 MB of heads, and 800 MB that are compressed: \(peak) bytes are in use")
        #expect(try client.fetch(ConformanceStage.soundPath, on: 1001).isOK)
        #expect(try stage.serves(other))
        stage.stop()
        #expect(stage.forwardedCount == 0)
    }

    @Test("A field above 64 KiB ends the connection, and another client is served")
    func endsAtLongFields() throws {
        let stage = try ConformanceStage(.plainListener)
        let other = try stage.client()
        let client = try stage.frameClient()
        try client.begin()
        let head = Frame.longHead(1, FieldBlock.get, fieldCount: 1)
        // libnghttp2 decodes no such field.
        #expect(try client.react(to: head.flatMap(\.bytes)) == .connectionError(.compressionError))
        #expect(try stage.serves(other))
        stage.stop()
        #expect(stage.forwardedCount == 0)
    }

    @Test("Streams whose content never ends use no more than their windows, and another client is served")
    func boundsContent() throws {
        let stage = try ConformanceStage(.plainListener, connectionCount: 1)
        let other = try stage.client()
        #expect(try stage.serves(other))
        let client = try stage.frameClient()
        try client.begin()
        let streams = (1..<UInt32(100)).map { $0 * 2 + 1 }
        let head = Array(FieldBlock.post.dropLast() + [(":path", ConformanceStage.stuckPath)])
        // Stream 1 has the only connection to the origin; the other requests wait, with their content.
        client.send(([1] + streams).map { .headers($0, head, end: false) })
        #expect(try client.react(to: []) == .accepted)
        let before = allocatedBytes()
        // Each fills its window but for 16 bytes.
        let share = ConformanceStage.streamWindow / 16 - 1
        for _ in 0..<16 {
            let reaction = try client.react(to: streams.flatMap { Frame.data($0, count: share).bytes })
            #expect(reaction == .accepted)
        }
        let content = streams.count * ConformanceStage.streamWindow
        #expect(allocatedBytes() - before < content * 2, "\(allocatedBytes() - before) bytes are in use")
        #expect(try stage.serves(other, from: "b.example"))
        // A client that ignores the windows.
        for stream in streams { client.send(.data(stream, count: share)) }
        for stream in streams { try client.readEnd(of: stream) }
        #expect(client.frames.count { $0.resetCode == .flowControlError } == streams.count)
        #expect(allocatedBytes() - before < content * 2, "\(allocatedBytes() - before) bytes are in use")
        #expect(try stage.serves(other, from: "b.example"))
    }
}

/// What this process has allocated, in bytes.
func allocatedBytes() -> Int {
    var (given, held) = (0, 0)
    larder_allocator_bytes(&given, &held)
    return given
}
