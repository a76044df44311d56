import EventLoop
import Foundation
import HTTPSerialization
import LarderHTTP
import TextCoding

/// A fetched file.
package struct FetchedFile: Sendable {
    let path: String
    let length: UInt64
    /// How many bytes of the file an earlier run had left.
    let keptLength: UInt64
    /// Whether the file came from the store, without a request to the server.
    let isFromStore: Bool
    /// The digests that the file was verified with.
    let digests: [ContentDigest]
    /// Whether the file already existed, according to its digest.
    var wasThere = false
}

/// The transfer of one URL, from its first request to the final file.
struct FetchRun: Sendable {
    let item: FetchItem
    let terms: FetchTerms
    let session: HTTPSession
    let row: FetchBoard.Row
    /// Returns the file name to use for a suggested name: the same name, or `name.1` and so on if another URL of this run has that name.
    let claim: @Sendable (String) -> String

    func run() async throws(FetchFailure) -> FetchedFile {
        if let known = knownTarget {
            let file = try await Self.elsewhere { () throws(FetchFailure) in try standing(at: known) }
            if let file { return file }
        }
        let part = try await Self.elsewhere { () throws(FetchFailure) in
            try PartFile(in: folder, for: purpose, isSequential: terms.parts == 1)
        }
        do throws(FetchFailure) { return try await fetchOnceOrTwice(part) } catch {
            if error.kind == .digest { await part.remove() } else { row.noteKept(await part.leave()) }
            throw error
        }
    }

    /// Fetches the file. If a stored response does not match the digest, requests the file again from its server.
    private func fetchOnceOrTwice(_ part: PartFile) async throws(FetchFailure) -> FetchedFile {
        let first: FetchFailure
        do throws(FetchFailure) { return try await fetch(into: part, terms) } catch { first = error }
        guard first.kind == .digest, first.isAboutStored, terms.mayAskAgain else { throw first }
        row.say("the stored response does not have the expected digest: requesting the file from the server")
        try await part.beginAnew()
        var terms = self.terms
        terms.fields.append("Cache-Control", "no-cache")
        do throws(FetchFailure) { return try await fetch(into: part, terms) } catch {
            switch error.kind {
            case .digest, .interrupted, .file: throw error
            default: throw first.saying("the stored response: \(first.sentence); the new request: \(error.sentence)")
            }
        }
    }

    private func fetch(into part: PartFile, _ terms: FetchTerms) async throws(FetchFailure) -> FetchedFile {
        let transfer = PartTransfer(item: item, terms: terms, session: session, part: part, row: row, standing: standing(named:))
        switch try await transfer.run() {
        case .whole(let facts):
            let digests = try await Self.elsewhere { () throws(FetchFailure) in try check(part) }
            return try await put(part, facts, digests)
        case .standing(let file):
            await part.remove()
            return file
        }
    }

    // MARK: Names and paths

    private var folder: String {
        switch terms.place {
        case .folder(let path): path
        case .file(let path): path.contains("/") ? Self.folder(of: path) : "."
        case .outlet: FileManager.default.temporaryDirectory.path
        }
    }

    private static func path(_ name: String, in folder: String) -> String { folder == "." ? name : "\(folder)/\(name)" }

    private static func folder(of path: String) -> String {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    /// Runs that fetch the same URL to the same destination use the same purpose, so that a later run finds the existing part.
    private var purpose: PartFile.Purpose {
        switch terms.place {
        case .file(let path): .file(key: "\(item.uri)\n\(path.split(separator: "/").last ?? "")")
        case .folder: .file(key: "\(item.uri)\n\(item.name ?? "")")
        case .outlet(.null) where item.digest == nil: .nothing
        // For an output that is not a file, the part cannot be resumed.
        case .outlet: .reading
        }
    }

    private var knownTarget: String? {
        switch terms.place {
        case .file(let path): path
        case .folder(let folder): item.name.map { Self.path($0, in: folder) }
        case .outlet: nil
        }
    }

    /// Checks the existing file with this name.
    /// - Returns: the existing file if it is the requested file.
    /// - Throws: an error if the existing file is a different file that must not be replaced.
    private func standing(at path: String) throws(FetchFailure) -> FetchedFile? {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return nil }
        // Only regular files are replaced: no folder, no device, and no symbolic link, which may lead to a device.
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw FetchFailure(.file, "file_exists", "\(printable(path, limit: 4096)) exists and is not a regular file")
        }
        if let digest = item.digest {
            row.enter(.checking)
            if try FileDigest.make(ofFileAt: path, by: digest.algorithm) == digest {
                return FetchedFile(
                    path: path, length: UInt64(facts.st_size), keptLength: UInt64(facts.st_size), isFromStore: false,
                    digests: [digest], wasThere: true)
            }
        }
        if terms.overwrites { return nil }
        throw FetchFailure(
            .file, "file_exists", "\(printable(path, limit: 4096)) already exists; --overwrite replaces it")
    }

    // MARK: The complete file

    /// Runs slow work on another thread, so that it does not delay tasks that read. If the task is cancelled, the work is cancelled too.
    private static func elsewhere<Value: Sendable>(
        _ work: @escaping @Sendable () throws(FetchFailure) -> Value
    ) async throws(FetchFailure) -> Value {
        let task = Task.detached { Result { () throws(FetchFailure) in try work() } }
        return try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }

    /// - Returns: the digests that the part was verified with.
    private func check(_ part: PartFile) throws(FetchFailure) -> [ContentDigest] {
        let told = DigestField(parsing: part.digests)?.strongest
        let wanted = [item.digest, told].compactMap { $0 }
        if wanted.isEmpty || part.purpose == .nothing { return [] }
        row.enter(.checking)
        for algorithm in Set(wanted.map(\.algorithm)) {
            let made = try FileDigest.make(of: part, by: algorithm)
            for digest in wanted where digest.algorithm == algorithm && digest != made {
                var failure = FetchFailure(
                    .digest, "other_digest",
                    digest == item.digest
                        ? "the digest is wrong: \(FileDigest.text(made)), expected \(FileDigest.text(digest))"
                        : "the digest differs from the server's Repr-Digest: \(FileDigest.text(made)), expected \(FileDigest.text(digest))"
                )
                failure.isAboutStored = part.isFromStore
                throw failure
            }
        }
        return wanted
    }

    /// From here on the file is final. A cancellation can now only end the wait for a reader.
    private func put(
        _ part: PartFile, _ facts: PartTransfer.Facts, _ digests: [ContentDigest]
    ) async throws(FetchFailure) -> FetchedFile {
        let path: String
        switch terms.place {
        case .outlet(let outlet):
            path = outlet.name
            try await Self.elsewhere { () throws(FetchFailure) in try outlet.write(part) }
        case .file(let target):
            path = target
            try await part.move(to: path, replaces: terms.overwrites, mode: terms.mode)
        case .folder(let folder):
            path = Self.path(item.name ?? claim(facts.name), in: folder)
            try await part.move(to: path, replaces: terms.overwrites, mode: terms.mode)
        }
        return FetchedFile(
            path: path, length: part.length, keptLength: part.keptLength, isFromStore: facts.isFromStore, digests: digests)
    }

    /// Checks whether a name that the response suggests may be used.
    /// - Returns: the existing file with this name if it is the requested file.
    private func standing(named name: String) async throws(FetchFailure) -> FetchedFile? {
        guard case .folder(let folder) = terms.place, item.name == nil else { return nil }
        let path = Self.path(claim(name), in: folder)
        return try await Self.elsewhere { () throws(FetchFailure) in try standing(at: path) }
    }
}
