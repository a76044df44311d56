/// So many bytes at once with a pause behind them: for testing what a slow line does.
public struct PacketThrottle: Hashable, Sendable {
    /// In bytes.
    public var packetLength: Int
    /// Behind each packet.
    public var pause: Duration

    /// Packets of so many bytes, at least one.
    public init(packetLength: Int, pause: Duration) {
        precondition(packetLength > 0, "a packet holds at least one byte")
        self.packetLength = packetLength
        self.pause = pause
    }

    /// What AFNetworking suggests for 3G: 16 KiB each 0.2 s.
    public static let thirdGeneration = PacketThrottle(packetLength: 16 << 10, pause: .milliseconds(200))
}

/// The pieces of a form as they are asked for. Each iteration reads anew, on the thread that asks.
public struct MultipartPieces: AsyncSequence, Sendable {
    private let form: MultipartForm
    private let throttle: PacketThrottle?

    init(_ form: MultipartForm, throttle: PacketThrottle?) {
        self.form = form
        self.throttle = throttle
    }

    /// Begins to read anew.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: form.makeReader(), throttle: throttle) }

    /// Reads the pieces.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: MultipartReader
        fileprivate let throttle: PacketThrottle?
        private var hasBegun = false

        fileprivate init(reader: MultipartReader, throttle: PacketThrottle?) {
            self.reader = reader
            self.throttle = throttle
        }

        /// - Throws: `RequestSerializationError`; `CancellationError` while it pauses.
        public mutating func next() async throws -> [UInt8]? {
            if let throttle, hasBegun { try await Task.sleep(for: throttle.pause) }
            hasBegun = true
            return try reader.next(upTo: throttle?.packetLength ?? MultipartReader.defaultPieceLength)
        }
    }
}

extension MultipartForm {
    /// The form as a sequence of pieces.
    /// - Parameter throttle: a pause between pieces.
    public func pieces(throttle: PacketThrottle? = nil) -> MultipartPieces { MultipartPieces(self, throttle: throttle) }
}
