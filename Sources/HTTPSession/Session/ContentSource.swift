import EventLoop
import HTTPWire

/// Content that is sent piece by piece, from a file or a sequence.
enum ContentSource: Sendable {
    case file(OpenFile, length: UInt64, FileThread)
    case stream(BodyStream)

    static let pieceLength = 256 * 1024

    /// Sends all content; cancels the exchange if that fails.
    func send(over link: ResponseChannel) async {
        do {
            guard try await pass(to: { await link.send($0) }) else { return }
            if case .stream(let stream) = self, stream.length == nil { link.endContent() }
        } catch {
            link.cancel(.source(error))
        }
    }

    /// Passes on all content, until `take` returns `false`.
    /// - Returns: whether all content was passed on.
    func pass(to take: ([UInt8]) async -> Bool) async throws -> Bool {
        switch self {
        case .file(let file, let length, let thread): try await Self.pass(file, length: length, by: thread, to: take)
        case .stream(let stream): try await Self.pass(stream, to: take)
        }
    }

    private static func pass(
        _ file: OpenFile, length: UInt64, by thread: FileThread, to take: ([UInt8]) async -> Bool
    ) async throws -> Bool {
        var offset: UInt64 = 0
        while offset < length {
            let place = offset
            let wanted = Int(min(UInt64(pieceLength), length - place))
            let octets = try await thread.run { () throws(SystemError) in try file.read(at: place, atMost: wanted) }
            if octets.isEmpty { throw SessionError(.fileFailed, "\(file.path) was truncated") }
            offset += UInt64(octets.count)
            guard await take(octets) else { return false }
        }
        return true
    }

    private static func pass(_ stream: BodyStream, to take: ([UInt8]) async -> Bool) async throws -> Bool {
        let pieces = stream.makePieces()
        var left = stream.length
        while let octets = try await pieces.next() {
            if octets.isEmpty { continue }
            if let known = left {
                guard UInt64(octets.count) <= known else {
                    throw SessionError(.bodySourceFailed, "the content is longer than its announced length")
                }
                left = known - UInt64(octets.count)
            }
            guard await take(octets) else { return false }
        }
        if let left, left > 0 {
            throw SessionError(.bodySourceFailed, "the content is \(left) bytes shorter than its announced length")
        }
        return true
    }
}

extension PreparedRequest {
    /// The content to send. If it is in a file, the file is opened.
    nonisolated(nonsending) func content(_ files: FileThread) async throws(SessionError) -> Content {
        switch body {
        case .none: return Content(framing: .none, octets: [], source: nil)
        case .octets(let octets): return Content(framing: .length(UInt64(octets.count)), octets: octets, source: nil)
        case .stream(let stream):
            return Content(framing: stream.length.map { .length($0) } ?? .chunked, octets: [], source: .stream(stream))
        case .file(let path):
            do throws(SystemError) {
                let (file, length) = try await files.run { () throws(SystemError) in
                    let file = try OpenFile.reading(path)
                    return (file, try file.length)
                }
                return Content(framing: .length(length), octets: [], source: .file(file, length: length, files))
            } catch { throw SessionError(.fileFailed, "\(path): \(error)") }
        }
    }
}
