internal import CZstd
import HTTPMessage

/// Takes the coding `zstd` off (RFC 8878): frames one behind the other, with windows of at most 8 MiB (RFC 9659).
final class ZstandardDecoder: CodingDecoder {
    private static let bufferLength = 16 << 10
    private static let windowLogLimit: Int32 = 23

    private let context: OpaquePointer
    private var isAtEnd = true
    /// The bytes by which a frame says that it is one, until all four are there: libzstd, given some of them, would take what follows for
    /// a format of before RFC 8878.
    private var magic: [UInt8] = []
    /// So many bytes behind those go to libzstd one by one: it looks for a whole frame at the beginning of what it is given when a header ends,
    /// and would take that for one of such a format where the header began in an earlier piece.
    private var headerOctetsLeft = 0
    /// What a header has at most behind its magic number (RFC 8878 §3.1.1.1).
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
        // Out of the object while it is lent to `take`.
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

    /// Up to the end of the frame or of the input.
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
            // With room left there is no more to come out.
            if isAtEnd || used == input.count && produced < output.count { return }
        }
    }

    /// A frame, or one to be skipped (RFC 8878 §3.1).
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
