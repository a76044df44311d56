/// The content of a request.
public enum RequestBody: Sendable {
    /// No content.
    case none
    /// Content in memory. If it is empty, `Content-Length: 0` is sent.
    case octets([UInt8])
    /// The content of a file, read while it is sent. The length is read when the file is opened; if the file shrinks meanwhile, the
    /// transfer fails.
    case file(path: String)
    /// Content from an asynchronous sequence.
    case stream(BodyStream)

    /// Whether the content can be sent again, after a redirect or for a retry.
    public var isReplayable: Bool {
        if case .stream(let stream) = self { return stream.isReplayable }
        return true
    }
}

/// Content that is produced piece by piece.
public struct BodyStream: Sendable {
    /// The length in bytes, sent as Content-Length; the content must have exactly this length. `nil`: the content is sent in chunks
    /// (RFC 9112 §7.1).
    public let length: UInt64?
    /// Whether the sequence can be read a second time.
    public let isReplayable: Bool
    let makePieces: @Sendable () -> Pieces

    /// Returns the next piece, or `nil` at the end. Thrown errors fail the transfer.
    struct Pieces {
        let next: () async throws -> [UInt8]?
    }

    /// - Parameters:
    ///   - length: the length in bytes, if it is known; else the content is sent in chunks.
    ///   - make: creates the sequence each time the content is sent, so that it can be sent again.
    public init<Source: AsyncSequence & SendableMetatype>(length: UInt64? = nil, replaying make: @escaping @Sendable () -> Source)
    where Source.Element == [UInt8] {
        self.length = length
        isReplayable = true
        makePieces = { Self.pieces(of: make()) }
    }

    /// - Parameters:
    ///   - length: the length in bytes, if it is known; else the content is sent in chunks.
    ///   - source: the content, which can be read only once, so the request is never sent again.
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
