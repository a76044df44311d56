internal import CLarderBrotli
import HTTPMessage

/// Decodes the coding `br` (RFC 7932), with windows of at most 16 MiB, as the RFC allows.
final class BrotliDecoder: CodingDecoder {
    private static let bufferLength = 16 << 10

    private let state: OpaquePointer
    private var isAtEnd = false
    private var hasInput = false
    private var buffer = [UInt8](repeating: 0, count: bufferLength)

    init() {
        guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else { preconditionFailure("brotli has no memory") }
        self.state = state
    }

    deinit { BrotliDecoderDestroyInstance(state) }

    var permitsEnd: Bool { !hasInput || isAtEnd }

    func decode<Failure: Error>(
        _ input: Span<UInt8>, orFail malformed: Failure, take: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        guard !input.isEmpty else { return }
        hasInput = true
        // No bytes may follow the end of the encoded data.
        if isAtEnd { throw malformed }
        // The buffer is moved out of the object while `take` uses it.
        var output: [UInt8] = []
        swap(&output, &buffer)
        defer { swap(&output, &buffer) }
        var used = 0
        while true {
            let (result, consumed, produced) = step(input.extracting(used..<input.count), into: &output)
            used += consumed
            if produced > 0 { try take(output.span.extracting(0..<produced)) }
            switch result {
            case BROTLI_DECODER_RESULT_SUCCESS:
                isAtEnd = true
                guard used == input.count else { throw malformed }
                return
            case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: continue
            case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT where used == input.count: return
            default: throw malformed
            }
        }
    }

    private func step(
        _ input: Span<UInt8>, into output: inout [UInt8]
    ) -> (result: BrotliDecoderResult, consumed: Int, produced: Int) {
        input.withUnsafeBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                var left = input.count
                var next = input.baseAddress
                var room = output.count
                var place = output.baseAddress
                let result = BrotliDecoderDecompressStream(state, &left, &next, &room, &place, nil)
                return (result, input.count - left, output.count - room)
            }
        }
    }
}
