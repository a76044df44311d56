import EventLoop
import Foundation
import HTTPSerialization
import HTTPSession
import ProxyAdmin

/// A file that was fetched.
struct FetchedFile: Sendable {
    let path: String
    let length: UInt64
    /// How much of it was there before.
    let keptLength: UInt64
    /// Whether it came from the store, and the server was not asked for it.
    let isFromStore: Bool
    /// Those by which it was checked.
    let digests: [ContentDigest]
    /// It was there already, as its digest says.
    var wasThere = false
}

/// One URL, from its first request to the file in its place.
struct FetchRun: Sendable {
    let item: FetchItem
    let terms: FetchTerms
    let session: HTTPSession
    let row: FetchBoard.Row

    func run() async throws(FetchFailure) -> FetchedFile {
        if let known = knownTarget {
            let file = try await Self.elsewhere { () throws(FetchFailure) in try standing(at: known) }
            if let file { return file }
        }
        let part = try PartFile(in: folder, key: partKey)
        do throws(FetchFailure) {
            let transfer = PartTransfer(
                item: item, terms: terms, session: session, part: part, row: row, standing: standing(named:))
            let facts: PartTransfer.Facts
            do throws(FetchFailure) {
                switch try await transfer.run() {
                case .whole(let whole): facts = whole
                case .standing(let file):
                    part.remove()
                    return file
                }
            } catch {
                if error.kind != .digest { row.noteKept(part.leave()) }
                throw error
            }
            return try await Self.elsewhere { () throws(FetchFailure) in try put(part, facts, try check(part, facts)) }
        } catch {
            if error.kind == .digest { part.remove() }
            throw error
        }
    }

    // MARK: Places

    private var folder: String {
        switch terms.place {
        case .folder(let path): path
        case .file(let path): path.contains("/") ? Self.folder(of: path) : "."
        case .standardOutput: FileManager.default.temporaryDirectory.path
        }
    }

    private static func path(_ name: String, in folder: String) -> String { folder == "." ? name : "\(folder)/\(name)" }

    private static func folder(of path: String) -> String {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    /// The same for the same URL to the same place, so that what is there is found again.
    private var partKey: String {
        switch terms.place {
        case .file(let path): "\(item.uri)\n\(path.split(separator: "/").last ?? "")"
        case .folder: "\(item.uri)\n\(item.name ?? "")"
        // Nobody goes on with what nobody has.
        case .standardOutput: "\(item.uri)\n\(UInt64.random(in: 0 ... .max))"
        }
    }

    private var knownTarget: String? {
        switch terms.place {
        case .file(let path): path
        case .folder(let folder): item.name.map { Self.path($0, in: folder) }
        case .standardOutput: nil
        }
    }

    /// What has the name already.
    /// - Returns: the file, where it is what is wanted.
    /// - Throws: where it is not, and may not give way.
    private func standing(at path: String) throws(FetchFailure) -> FetchedFile? {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return nil }
        // Nothing else gives way to a file: no folder, no device, and no link, which may lead to one.
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw FetchFailure(.file, "file_exists", "\(printable(path, limit: 4096)) is there already, and no plain file")
        }
        if let digest = item.digest, FileDigest.make(ofFileAt: path, by: digest.algorithm) == digest {
            return FetchedFile(
                path: path, length: UInt64(facts.st_size), keptLength: UInt64(facts.st_size), isFromStore: false,
                digests: [digest],
                wasThere: true)
        }
        if terms.overwrites { return nil }
        throw FetchFailure(
            .file, "file_exists", "\(printable(path, limit: 4096)) is there already; --overwrite puts the new one in its place")
    }

    // MARK: The whole

    /// Does what takes long where it holds up nobody who reads.
    private static func elsewhere<Value: Sendable>(
        _ work: @escaping @Sendable () throws(FetchFailure) -> Value
    ) async throws(FetchFailure) -> Value {
        try await Task.detached { Result { () throws(FetchFailure) in try work() } }.value.get()
    }

    /// - Returns: by what it was checked.
    private func check(_ part: PartFile, _ facts: PartTransfer.Facts) throws(FetchFailure) -> [ContentDigest] {
        let told = DigestField(parsing: facts.digests)?.strongest
        let wanted = [item.digest, told].compactMap { $0 }
        if wanted.isEmpty { return [] }
        row.enter(.checking)
        for algorithm in Set(wanted.map(\.algorithm)) {
            let made = try FileDigest.make(of: part, by: algorithm)
            for digest in wanted where digest.algorithm == algorithm && digest != made {
                throw FetchFailure(
                    .digest, "other_digest",
                    digest == item.digest
                        ? "it is not what was asked for: \(FileDigest.text(made)), and not \(FileDigest.text(digest))"
                        : "it is not what the server says: \(FileDigest.text(made)), and not \(FileDigest.text(digest)) (Repr-Digest)"
                )
            }
        }
        return wanted
    }

    private func put(_ part: PartFile, _ facts: PartTransfer.Facts, _ digests: [ContentDigest]) throws(FetchFailure)
        -> FetchedFile
    {
        let length = part.length
        func fetched(_ path: String) -> FetchedFile {
            FetchedFile(path: path, length: length, keptLength: part.keptLength, isFromStore: facts.isFromStore, digests: digests)
        }
        if case .standardOutput = terms.place {
            defer { part.remove() }
            try copyOut(part)
            return fetched("-")
        }
        let target = knownTarget ?? Self.path(facts.name, in: folder)
        do throws(FetchFailure) {
            try part.move(to: target, replaces: terms.overwrites, mode: terms.mode)
        } catch {
            _ = part.leave()
            throw error
        }
        return fetched(target)
    }

    private func copyOut(_ part: PartFile) throws(FetchFailure) {
        var offset: UInt64 = 0
        while true {
            let octets = try part.read(at: offset, atMost: FileDigest.pieceLength)
            if octets.isEmpty { return }
            Terminal.output(bytes: octets[...])
            offset += UInt64(octets.count)
        }
    }

    /// Where the name comes from the response: whether it may be used.
    /// - Returns: the file that has it, where that is what is wanted.
    private func standing(named name: String) async throws(FetchFailure) -> FetchedFile? {
        guard case .folder(let folder) = terms.place, item.name == nil else { return nil }
        return try await Self.elsewhere { () throws(FetchFailure) in try standing(at: Self.path(name, in: folder)) }
    }
}
