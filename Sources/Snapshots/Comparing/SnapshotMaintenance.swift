import HTTPMessage
import ServerTrust

/// Makes snapshots from existing ones. Each new snapshot is written to a separate file, which gets its final name when it is
/// complete.
package enum SnapshotMaintenance {
    /// Merges several snapshots into one. Later sources become later generations, so if several sources have a recording of a
    /// request, replay uses the last one.
    /// - Parameter sources: the paths of the sources. The merged snapshot takes the match terms of the first source.
    package static func merge(
        _ sources: [String], to path: String, tool: String, now: Timestamp, signing key: SigningKey? = nil
    ) throws(SnapshotError) -> SnapshotRoots {
        guard let first = sources.first else { throw .malformed("no snapshot was given to merge") }
        var manifest = Manifest(created: now, tool: tool, generations: [], terms: try Snapshot(path: first).manifest.terms)
        var offsets: [UInt32] = []
        for source in sources {
            let generations = try Snapshot(path: source).manifest.generations
            let offset = manifest.generations.last?.number ?? 0
            offsets.append(offset)
            for generation in generations {
                manifest.generations.append(
                    Manifest.Generation(number: generation.number + offset, started: generation.started))
            }
        }
        guard manifest.generations.count <= SnapshotLimits.generations else { throw .tooLarge("generations") }
        return try make(path, manifest, signing: key) { (writer) throws(SnapshotError) in
            for (source, offset) in zip(sources, offsets) {
                _ = try SnapshotCopy(from: Snapshot(path: source), to: writer).run(generationOffset: offset)
            }
        }
    }

    /// Removes recordings that a later generation replaces, and bodies that no recording uses. The digest `content` of the snapshot
    /// does not change.
    /// - Returns: the number of recordings removed.
    package static func collect(_ path: String, signing key: SigningKey? = nil) throws(SnapshotError) -> Int {
        let source = try Snapshot(path: path)
        var newest: [SHA256Digest: UInt32] = [:]
        var found: [(key: SHA256Digest, generation: UInt32)] = []
        for place in 0..<source.count {
            let recording = try source.recording(at: place)
            newest[recording.identity.key] = max(newest[recording.identity.key] ?? 0, recording.generation)
            found.append((recording.identity.key, recording.generation))
        }
        return try keep(of: source, at: path, signing: key) { newest[found[$0].key] == found[$0].generation }
    }

    /// Removes the recordings for which `isKept` returns `false`, such as those that a run did not request.
    /// - Returns: the number of recordings removed.
    package static func keep(
        of source: Snapshot, at path: String, signing key: SigningKey? = nil, _ isKept: (Int) -> Bool
    ) throws(SnapshotError) -> Int {
        var kept = 0
        _ = try make(path, source.manifest, signing: key) { (writer) throws(SnapshotError) in
            kept = try SnapshotCopy(from: source, to: writer).run(taking: isKept)
        }
        return source.count - kept
    }

    static func make(
        _ path: String, _ manifest: Manifest, signing key: SigningKey?,
        _ work: (SnapshotWriter) throws(SnapshotError) -> Void
    ) throws(SnapshotError) -> SnapshotRoots {
        let writer = try SnapshotWriter(path: path, existing: .overwrite, manifest: manifest)
        do throws(SnapshotError) {
            try work(writer)
            return try writer.finish(signing: key)
        } catch {
            writer.abandon()
            throw error
        }
    }
}
