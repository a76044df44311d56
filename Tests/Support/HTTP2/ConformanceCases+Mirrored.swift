/// Cases of a client's bytes whose rule binds the recipient of a server's bytes too. The head of a response takes the place of the request's.
extension ConformanceCase {
    static let mirrored =
        (frames + data + headers + priorityAndReset + settings + pushAndPing + goAwayAndWindows
        + continuations + messages + fieldNames + compression).compactMap(\.mirrored)

    /// Rules on requests, on the choice of streams, and on settings that only a client sends.
    private static let ofRequestsAlone = ["8.2.3", "8.4"]

    private static let requestHeads = [
        FieldBlock.literal(FieldBlock.get), FieldBlock.literal(FieldBlock.post),
        // GET / by the static table, and an authority.
        [0x82, 0x87, 0x84, 0x01] + FieldBlock.text(Array("a.example".utf8)),
    ]

    /// `nil` if the case has no meaning for a server's bytes.
    private var mirrored: ConformanceCase? {
        guard case .serverReady = start, !Self.ofRequestsAlone.contains(section) else { return nil }
        var frames = Frame.all(in: bytes)
        guard frames.flatMap(\.bytes) == bytes else { return nil }
        for index in frames.indices where frames[index].type == 1 {
            for head in Self.requestHeads {
                frames[index].payload = frames[index].payload.replacing(head, with: FieldBlock.literal(FieldBlock.ok))
            }
            // Another request than those above, or a part of one.
            if [":path", ":me"].contains(where: { frames[index].payload.contains(Array($0.utf8)) }) { return nil }
        }
        let changesPush = frames.contains { $0.type == 4 && $0.payload.starts(with: [0, 2]) }
        let requestCount = ((frames.map { $0.stream & 0x7FFF_FFFF }.max() ?? 0) + 1) / 2
        guard !changesPush, requestCount <= 3 else { return nil }
        return ConformanceCase(
            section: section, sentence: "\(sentence) (from a server)",
            start: .clientReady(Array(repeating: .get, count: max(1, Int(requestCount)))), bytes: frames.flatMap(\.bytes),
            expected: expected, heads: heads)
    }
}
