import HTTPMessage
import ServerTrust

/// Takes recordings over from one snapshot into another that is being made, with their bodies and chains, under the terms of the new one.
package struct SnapshotCopy {
    private let source: Snapshot
    private let writer: SnapshotWriter
    private let matcher: RequestMatcher

    package init(from source: Snapshot, to writer: SnapshotWriter) throws(SnapshotError) {
        self.source = source
        self.writer = writer
        matcher = try RequestMatcher(writer.manifest.terms)
    }

    /// - Parameters:
    ///   - offset: is added to the generations.
    ///   - isTaken: says which places are taken over; all by default.
    /// - Returns: how many were.
    package func run(generationOffset offset: UInt32 = 0, taking isTaken: (Int) -> Bool = { _ in true }) throws(SnapshotError)
        -> Int
    {
        var order: [(generation: UInt32, position: UInt32, place: Int)] = []
        for place in 0..<source.count where isTaken(place) {
            let recording = try source.recording(at: place)
            order.append((recording.generation, recording.position, place))
        }
        // So that positions, which are counted anew, come out as they were.
        order.sort { ($0.generation, $0.position, $0.place) < ($1.generation, $1.position, $1.place) }
        for (_, _, place) in order { try take(source.recording(at: place), offset) }
        return order.count
    }

    private func take(_ original: Recording, _ offset: UInt32) throws(SnapshotError) {
        var recording = original
        let request = try source.request(of: original)
        guard let identity = matcher.identity(of: request, response: original.response?.fields, under: nil) else {
            throw .holdsSecrets(String(decoding: original.request.uri, as: UTF8.self))
        }
        recording.identity = identity
        recording.generation += offset
        for body in [original.request.body, original.response?.body] {
            if let body, body.isKept { try copy(body) }
        }
        if let chain = original.chain { _ = try writer.chain(source.chain(chain)) }
        try writer.append(recording)
    }

    private func copy(_ body: RecordedBody) throws(SnapshotError) {
        if try writer.holdsBody(body.digest, length: body.length) { return }
        let reader = try source.body(body)
        let copy = writer.beginBody()
        while let piece = try reader.next() { try copy.append(piece.span) }
        _ = try copy.finish()
    }
}
