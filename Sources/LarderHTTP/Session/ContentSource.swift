import EventLoop
import HTTPSerialization
import HTTPWire

/// Content that is sent piece by piece, from a file or a sequence.
enum ContentSource: Sendable {
    case file(OpenFile, length: UInt64, FileThread)
    case stream(BodyStream)
    /// Content in memory that is sent slowly.
    case octets([UInt8])

    static let pieceLength = 256 * 1024

    /// Sends all content; cancels the exchange if that fails.
    /// - Parameter throttle: the packets to send; `nil` for full speed.
    func send(over link: ResponseChannel, _ throttle: PacketThrottle?) async {
        var sender = PacketSender(link, throttle)
        do {
            guard try await pass(to: { try await sender.send($0) }) else { return }
            if case .stream(let stream) = self, stream.length == nil { link.endContent() }
        } catch {
            link.cancel(.source(error))
        }
    }

    /// Passes on all content, until `take` returns `false`.
    /// - Returns: whether all content was passed on.
    func pass(to take: ([UInt8]) async throws -> Bool) async throws -> Bool {
        switch self {
        case .file(let file, let length, let thread): try await Self.pass(file, length: length, by: thread, to: take)
        case .stream(let stream): try await Self.pass(stream, to: take)
        case .octets(let octets): try await take(octets)
        }
    }

    private static func pass(
        _ file: OpenFile, length: UInt64, by thread: FileThread, to take: ([UInt8]) async throws -> Bool
    ) async throws -> Bool {
        var offset: UInt64 = 0
        while offset < length {
            let place = offset
            let wanted = Int(min(UInt64(pieceLength), length - place))
            let octets = try await thread.run { () throws(SystemError) in try file.read(at: place, atMost: wanted) }
            if octets.isEmpty { throw SessionError(.fileFailed, "\(file.path) was truncated") }
            offset += UInt64(octets.count)
            guard try await take(octets) else { return false }
        }
        return true
    }

    private static func pass(_ stream: BodyStream, to take: ([UInt8]) async throws -> Bool) async throws -> Bool {
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
            guard try await take(octets) else { return false }
        }
        if let left, left > 0 {
            throw SessionError(.bodySourceFailed, "the content is \(left) bytes shorter than its announced length")
        }
        return true
    }
}

/// Sends content in packets, with a pause between two packets. A packet may have several pieces: a form has many short ones, and a piece
/// that is ready must not wait for the next one.
private struct PacketSender {
    private let link: ResponseChannel
    private let throttle: PacketThrottle?
    /// How many bytes of the packet are left before the next pause.
    private var left: Int

    init(_ link: ResponseChannel, _ throttle: PacketThrottle?) {
        self.link = link
        self.throttle = throttle
        left = throttle?.packetLength ?? 0
    }

    /// - Returns: `false` if the exchange has ended.
    /// - Throws: `CancellationError` during a pause.
    mutating func send(_ octets: [UInt8]) async throws -> Bool {
        guard let throttle else { return await link.send(octets) }
        var start = 0
        while start < octets.count {
            if left == 0 {
                try await Task.sleep(for: throttle.pause)
                left = throttle.packetLength
            }
            let end = start + min(left, octets.count - start)
            guard await link.send(Array(octets[start..<end])) else { return false }
            left -= end - start
            start = end
        }
        return true
    }
}

extension PreparedRequest {
    /// The content to send. If it is in a file, the file is opened.
    /// - Parameter isThrottled: whether content in memory is also sent piece by piece.
    nonisolated(nonsending) func content(_ files: FileThread, isThrottled: Bool) async throws(SessionError) -> Content {
        switch body {
        case .none: return Content(framing: .none, octets: [], source: nil)
        case .octets(let octets):
            let source = isThrottled && !octets.isEmpty ? ContentSource.octets(octets) : nil
            return Content(framing: .length(UInt64(octets.count)), octets: source == nil ? octets : [], source: source)
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
