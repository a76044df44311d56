internal import CLarderZlib
import HTTPMessage

/// Decodes the codings `gzip` and `deflate` (RFC 1952, 1950, 1951).
final class Inflater: CodingDecoder {
    private enum Format { case undecided, gzip, zlib, raw }

    private static let bufferLength = 16 << 10

    // zlib keeps the address of the stream and fails if it moves.
    private let stream: UnsafeMutablePointer<z_stream>
    private var format: Format
    private var isStarted = false
    private var isAtEnd = false
    private var hasInput = false
    /// The first byte of a `deflate` body, kept until the second byte shows the format.
    private var firstOctet: UInt8?
    private var buffer = [UInt8](repeating: 0, count: bufferLength)

    init(_ coding: ContentCoding) {
        stream = UnsafeMutablePointer.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        format = coding == .gzip ? .gzip : .undecided
    }

    deinit {
        // inflateEnd returns Z_DATA_ERROR if the stream has not ended. Here that is not an error, because the memory is freed anyway.
        if isStarted { inflateEnd(stream) }
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    func decode<Failure: Error>(
        _ input: Span<UInt8>, orFail malformed: Failure, take: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        guard !input.isEmpty else { return }
        hasInput = true
        guard format == .undecided else {
            try inflate(input, orFail: malformed, take: take)
            return
        }
        guard let first = firstOctet ?? (input.count >= 2 ? input[0] : nil) else {
            firstOctet = input[0]
            return
        }
        format = Self.isZlibHeader(first, firstOctet == nil ? input[1] : input[0]) ? .zlib : .raw
        if firstOctet != nil { try inflate([first].span, orFail: malformed, take: take) }
        try inflate(input, orFail: malformed, take: take)
    }

    var permitsEnd: Bool { !hasInput || isAtEnd }

    /// Whether two bytes are a zlib header (RFC 1950 §2.2): method 8, a window of at most 32 KiB, and a valid checksum.
    private static func isZlibHeader(_ first: UInt8, _ second: UInt8) -> Bool {
        first & 0x0F == 8 && first >> 4 <= 7 && (UInt16(first) << 8 | UInt16(second)) % 31 == 0
    }

    private func inflate<Failure: Error>(
        _ input: Span<UInt8>, orFail malformed: Failure, take: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        if !isStarted { start() }
        var index = 0
        while index < input.count {
            if isAtEnd {
                // Only gzip allows another member after the first (RFC 1952 §2.2).
                guard format == .gzip, inflateReset(stream) == Z_OK else { throw malformed }
                isAtEnd = false
            }
            // zlib counts the input of one call in 32 bits.
            let piece = input.extracting(index..<min(input.count, index + 1 << 30))
            index += try inflateUntilDry(piece, orFail: malformed, take: take)
        }
    }

    /// - Returns: how much of the input was used: all of it, or up to the end of a gzip member.
    private func inflateUntilDry<Failure: Error>(
        _ input: Span<UInt8>, orFail malformed: Failure, take: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) -> Int {
        // The buffer is moved out of the object while `take` uses it.
        var output: [UInt8] = []
        swap(&output, &buffer)
        defer { swap(&output, &buffer) }
        var used = 0
        while true {
            let (result, consumed, produced) = inflateOnce(input.extracting(used..<input.count), into: &output)
            used += consumed
            if produced > 0 { try take(output.span.extracting(0..<produced)) }
            switch result {
            case Z_STREAM_END:
                isAtEnd = true
                return used
            case Z_OK where produced == Self.bufferLength || used < input.count: continue
            // Z_BUF_ERROR: zlib needs more input.
            case Z_OK, Z_BUF_ERROR: return used
            // Z_DATA_ERROR: the data is invalid. Z_NEED_DICT is treated alike, because an HTTP body cannot supply a dictionary.
            default: throw malformed
            }
        }
    }

    private func inflateOnce(
        _ input: Span<UInt8>, into output: inout [UInt8]
    ) -> (result: Int32, consumed: Int, produced: Int) {
        input.withUnsafeBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.pointee.avail_in = UInt32(input.count)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(output.count)
                let result = CLarderZlib.inflate(stream, Z_NO_FLUSH)
                let consumed = input.count - Int(stream.pointee.avail_in)
                return (result, consumed, output.count - Int(stream.pointee.avail_out))
            }
        }
    }

    private func start() {
        let windowBits: Int32 =
            switch format {
            case .gzip: 15 + 16
            case .zlib: 15
            case .raw, .undecided: -15
            }
        let result = inflateInit2_(stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(result == Z_OK, "zlib has no memory or is another version than at build time")
        isStarted = true
    }
}
