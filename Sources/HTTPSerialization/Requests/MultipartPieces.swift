/// Simulates a slow connection in tests: sends a packet of bytes, and pauses before the next packet.
public struct PacketThrottle: Hashable, Sendable {
    /// The length of a packet, in bytes.
    public var packetLength: Int
    /// The pause between two packets.
    public var pause: Duration

    /// Packets of `packetLength` bytes, which must be at least 1.
    public init(packetLength: Int, pause: Duration) {
        precondition(packetLength > 0, "a packet holds at least one byte")
        self.packetLength = packetLength
        self.pause = pause
    }

    /// AFNetworking's suggestion for 3G: 16 KiB every 0.2 s.
    public static let thirdGeneration = PacketThrottle(packetLength: 16 << 10, pause: .milliseconds(200))
}

/// The pieces of a form as an asynchronous sequence. Each iteration reads the form again, on the thread that iterates.
public struct MultipartPieces: AsyncSequence, Sendable {
    private let form: MultipartForm
    private let throttle: PacketThrottle?

    init(_ form: MultipartForm, throttle: PacketThrottle?) {
        self.form = form
        self.throttle = throttle
    }

    /// Starts reading from the beginning.
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

        /// - Throws: `RequestSerializationError`; `CancellationError` during a pause.
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
