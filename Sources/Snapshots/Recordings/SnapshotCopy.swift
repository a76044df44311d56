import HTTPMessage
import ServerTrust

/// Copies recordings, with their bodies and certificate chains, from one snapshot into a snapshot that is being made. Applies the match
/// terms of the new snapshot.
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
    ///   - offset: a number that is added to the number of each generation.
    ///   - isByTime: whether to order recordings by time. This is needed if requests that were different may now be equal: only the times
    ///     give the order of their responses.
    ///   - isTaken: selects the recordings to copy, by their places in canonical order; by default all.
    ///   - change: returns the recording to write, whose bodies must be in the new file or in the source.
    ///   - note: called with each recording and its copy.
    /// - Returns: the number of recordings copied.
    package func run(
        generationOffset offset: UInt32 = 0, inOrderOfTime isByTime: Bool = false, taking isTaken: (Int) -> Bool = { _ in true },
        changing change: (Recording) throws(SnapshotError) -> Recording = { $0 },
        noting note: (_ old: Recording, _ new: Recording) -> Void = { _, _ in }
    ) throws(SnapshotError) -> Int {
        var order: [(generation: UInt32, time: Int64, position: UInt32, place: Int)] = []
        for place in 0..<source.count where isTaken(place) {
            let recording = try source.recording(at: place)
            let time = isByTime ? recording.times.started.milliseconds : 0
            order.append((recording.generation, time, recording.position, place))
        }
        // The new file numbers the positions again. In this order the positions stay the same, unless different requests have become
        // equal.
        order.sort { ($0.generation, $0.time, $0.position, $0.place) < ($1.generation, $1.time, $1.position, $1.place) }
        for entry in order {
            let original = try source.recording(at: entry.place)
            note(original, try take(original, offset, change))
        }
        return order.count
    }

    private func take(
        _ original: Recording, _ offset: UInt32, _ change: (Recording) throws(SnapshotError) -> Recording
    ) throws(SnapshotError) -> Recording {
        for (body, _) in original.bodies where body.isKept { try copy(body) }
        var recording = try change(original)
        let request = try writer.request(of: recording)
        guard let identity = matcher.identity(of: request, response: recording.response?.fields, under: nil) else {
            throw .holdsSecrets(String(decoding: original.request.uri, as: UTF8.self))
        }
        recording.identity = identity
        recording.generation += offset
        if let chain = recording.chain { _ = try writer.chain(source.chain(chain)) }
        try writer.append(recording)
        return recording
    }

    private func copy(_ body: RecordedBody) throws(SnapshotError) {
        if try writer.holdsBody(body.digest, length: body.length) { return }
        let reader = try source.body(body)
        let copy = writer.beginBody()
        while let piece = try reader.next() { try copy.append(piece.span) }
        _ = try copy.finish()
    }
}
