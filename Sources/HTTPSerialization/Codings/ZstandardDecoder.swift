internal import CLarderZstd
import HTTPMessage

/// Decodes the coding `zstd` (RFC 8878): one or more frames, with windows of at most 8 MiB (RFC 9659).
final class ZstandardDecoder: CodingDecoder {
    private static let bufferLength = 16 << 10
    private static let windowLogLimit: Int32 = 23

    private let context: OpaquePointer
    private var isAtEnd = true
    /// The magic number of a frame, until all four bytes have arrived. If libzstd got fewer, it would parse the following bytes as a
    /// format older than RFC 8878.
    private var magic: [UInt8] = []
    /// How many more bytes after the magic number are passed to libzstd one by one. When a header ends, libzstd looks for a whole
    /// frame at the beginning of its input. If the header began in an earlier piece, libzstd would take the input for a frame of an
    /// old format.
    private var headerOctetsLeft = 0
    /// The longest header after the magic number (RFC 8878 §3.1.1.1).
    private static let headerLimit = 14
    private var buffer = [UInt8](repeating: 0, count: bufferLength)

    init() {
        guard let context = ZSTD_createDCtx() else { preconditionFailure("zstd has no memory") }
        self.context = context
        let result = ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.windowLogLimit)
        precondition(ZSTD_isError(result) == 0, "every zstd knows windows of 8 MiB")
    }

    deinit { ZSTD_freeDCtx(context) }

    var permitsEnd: Bool { isAtEnd && magic.isEmpty }

    func decode<Failure: Error>(
        _ input: Span<UInt8>, orFail malformed: Failure, take: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        // The buffer is moved out of the object while `take` uses it.
        var output: [UInt8] = []
        swap(&output, &buffer)
        defer { swap(&output, &buffer) }
        var used = 0
        while used < input.count {
            if isAtEnd {
                magic.append(input[used])
                used += 1
                if magic.count < 4 { continue }
                guard Self.isFrame(magic) else { throw malformed }
                var begun = 0
                try decodeFrame(magic.span, &begun, into: &output, orFail: malformed, take: take)
                magic.removeAll(keepingCapacity: true)
                isAtEnd = false
                headerOctetsLeft = Self.headerLimit
                continue
            }
            let end = headerOctetsLeft > 0 ? used + 1 : input.count
            headerOctetsLeft = max(0, headerOctetsLeft - 1)
            try decodeFrame(input.extracting(0..<end), &used, into: &output, orFail: malformed, take: take)
        }
    }

    /// Decodes up to the end of the frame or of the input.
    private func decodeFrame<Failure: Error>(
        _ input: Span<UInt8>, _ used: inout Int, into output: inout [UInt8], orFail malformed: Failure,
        take: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        while true {
            let (result, consumed, produced) = step(input.extracting(used..<input.count), into: &output)
            if ZSTD_isError(result) != 0 { throw malformed }
            used += consumed
            isAtEnd = result == 0
            if produced > 0 { try take(output.span.extracting(0..<produced)) }
            // If the output buffer is not full, there is no more output.
            if isAtEnd || used == input.count && produced < output.count { return }
        }
    }

    /// Whether this is the magic number of a frame or of a skippable frame (RFC 8878 §3.1).
    private static func isFrame(_ magic: [UInt8]) -> Bool {
        magic == [0x28, 0xB5, 0x2F, 0xFD] || magic[0] & 0xF0 == 0x50 && magic[1...] == [0x2A, 0x4D, 0x18]
    }

    private func step(
        _ input: Span<UInt8>, into output: inout [UInt8]
    ) -> (result: Int, consumed: Int, produced: Int) {
        input.withUnsafeBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                var from = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
                var to = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
                let result = ZSTD_decompressStream(context, &to, &from)
                return (result, from.pos, to.pos)
            }
        }
    }
}
