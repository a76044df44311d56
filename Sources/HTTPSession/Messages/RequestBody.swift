/// The content of a request.
public enum RequestBody: Sendable {
    /// No content, and no word of any.
    case none
    /// Content in memory; it may be empty, which is told (`Content-Length: 0`).
    case octets([UInt8])
    /// The content of a file, read while it is sent. Its length is taken when it is opened; a file that shrinks meanwhile fails the transfer.
    case file(path: String)
    /// What a sequence brings.
    case stream(BodyStream)

    /// Whether it can be sent a second time, after a redirect or for another try.
    public var isReplayable: Bool {
        if case .stream(let stream) = self { return stream.isReplayable }
        return true
    }
}

/// Content that comes piece by piece.
public struct BodyStream: Sendable {
    /// In bytes, sent as Content-Length, and what comes must be that long. `nil` sends it in chunks (RFC 9112 §7.1).
    public let length: UInt64?
    /// Whether it can be read a second time.
    public let isReplayable: Bool
    let makePieces: @Sendable () -> Pieces

    /// The next piece, or `nil` at the end. Thrown errors fail the transfer.
    struct Pieces {
        let next: () async throws -> [UInt8]?
    }

    /// - Parameters:
    ///   - length: in bytes, where it is known; else the content is sent in chunks.
    ///   - make: makes the sequence anew each time that the content is sent: it can be sent again.
    public init<Source: AsyncSequence & SendableMetatype>(length: UInt64? = nil, replaying make: @escaping @Sendable () -> Source)
    where Source.Element == [UInt8] {
        self.length = length
        isReplayable = true
        makePieces = { Self.pieces(of: make()) }
    }

    /// - Parameters:
    ///   - length: in bytes, where it is known; else the content is sent in chunks.
    ///   - source: can be read once, so that the request is never sent again.
    public init<Source: AsyncSequence & Sendable>(length: UInt64? = nil, _ source: Source) where Source.Element == [UInt8] {
        self.length = length
        isReplayable = false
        makePieces = { Self.pieces(of: source) }
    }

    private static func pieces<Source: AsyncSequence & SendableMetatype>(of source: Source) -> Pieces
    where Source.Element == [UInt8] {
        var iterator = source.makeAsyncIterator()
        return Pieces { try await iterator.next() }
    }
}
