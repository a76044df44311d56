internal import CLarderZlib
import HTTPMessage

/// Decompresses messages (RFC 7692 §7.2.2). Confined to its owner.
final class MessageInflater {
    private static let pieceLength = 16 << 10
    /// The end of a flushed block, which the sender leaves out of each message.
    private static let tail: [UInt8] = [0, 0, 0xFF, 0xFF]

    // zlib keeps the address of the stream and fails if it moves.
    private let stream: UnsafeMutablePointer<z_stream>
    private let keepsContext: Bool

    init(windowBits: Int, keepsContext: Bool) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        self.keepsContext = keepsContext
        let result = inflateInit2_(stream, -Int32(windowBits), ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(result == Z_OK, "zlib has no memory or is another version than at build time")
    }

    deinit {
        inflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Appends the decompressed bytes to `output`.
    /// - Parameters:
    ///   - isLast: the message ends with these bytes.
    ///   - check: called with the new bytes of `output` and its length, each time it has grown; a fault ends the message.
    func inflate(
        _ input: Span<UInt8>, isLast: Bool, into output: inout [UInt8], check: (Span<UInt8>, Int) -> WebSocketFault?
    ) throws(WebSocketFault) {
        try inflate(input, into: &output, check)
        guard isLast else { return }
        let tail = Self.tail
        try inflate(tail.span, into: &output, check)
        // zlib reports the end of a block by 128, and the unused bits of the last byte. A message that ends elsewhere is incomplete.
        guard stream.pointee.data_type == 128 else { throw .malformedCompression }
        if !keepsContext { inflateReset(stream) }
    }

    private func inflate(_ input: Span<UInt8>, into output: inout [UInt8], _ check: (Span<UInt8>, Int) -> WebSocketFault?)
        throws(WebSocketFault)
    {
        var used = 0
        var mayHoldOutput = false
        // zlib holds no output if it has left space for it. A call without input would hide that the stream is at the end of a block.
        while used < input.count || mayHoldOutput {
            let start = output.count
            let (result, consumed) = step(input.extracting(used...), into: &output)
            used += consumed
            mayHoldOutput = output.count - start == Self.pieceLength
            if output.count > start, let fault = check(output.span.extracting(start...), output.count) { throw fault }
            switch result {
            case Z_OK: continue
            // RFC 7692 §7.2.3.4: the message has a final block. More blocks may follow, and they may refer to the earlier content.
            case Z_STREAM_END: restart()
            // zlib held no output after all.
            case Z_BUF_ERROR where used == input.count: return
            default: throw .malformedCompression
            }
        }
    }

    private func step(_ input: Span<UInt8>, into output: inout [UInt8]) -> (result: Int32, consumed: Int) {
        var result: Int32 = Z_OK
        var consumed = 0
        output.append(addingCapacity: Self.pieceLength) { space in
            space.withUnsafeMutableBufferPointer { buffer, count in
                input.withUnsafeBufferPointer { input in
                    stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                    stream.pointee.avail_in = UInt32(clamping: input.count)
                    stream.pointee.next_out = buffer.baseAddress! + count
                    stream.pointee.avail_out = UInt32(Self.pieceLength)
                    result = CLarderZlib.inflate(stream, Z_NO_FLUSH)
                    consumed = min(input.count, Int(UInt32.max)) - Int(stream.pointee.avail_in)
                    count += Self.pieceLength - Int(stream.pointee.avail_out)
                }
            }
        }
        return (result, consumed)
    }

    /// Begins a new stream with the window of the old one.
    private func restart() {
        var window = [UInt8](repeating: 0, count: 32 << 10)
        var count: UInt32 = 0
        inflateGetDictionary(stream, &window, &count)
        inflateReset(stream)
        if count > 0 { inflateSetDictionary(stream, window, count) }
    }
}

/// Compresses messages (RFC 7692 §7.2.1). Confined to its owner.
final class MessageDeflater {
    private let stream: UnsafeMutablePointer<z_stream>
    private let keepsContext: Bool

    /// - Returns: `nil` for a window of 256 bytes, which zlib cannot write without a header. RFC 7692 §7.2.1 permits messages that are not
    ///   compressed, so such a connection has only these.
    init?(windowBits: Int, keepsContext: Bool) {
        guard windowBits > 8 else { return nil }
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        self.keepsContext = keepsContext
        let result = deflateInit2_(
            stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -Int32(windowBits), 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        precondition(result == Z_OK, "zlib has no memory or is another version than at build time")
    }

    deinit {
        deflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// The compressed message, without the four bytes that end each flushed block.
    func deflated(_ message: Span<UInt8>) -> [UInt8] {
        // RFC 7692 §7.2.3.6. zlib would write nothing if it has just flushed.
        if message.isEmpty { return [0] }
        var output: [UInt8] = []
        var used = 0
        repeat {
            let piece = message.extracting(used..<min(message.count, used + 1 << 30))
            used += piece.count
            deflate(piece, Z_NO_FLUSH, into: &output)
        } while used < message.count
        let nothing: [UInt8] = []
        deflate(nothing.span, Z_SYNC_FLUSH, into: &output)
        precondition(output.count >= 4 && output.suffix(4).elementsEqual([0, 0, 0xFF, 0xFF]), "zlib has flushed a block")
        output.removeLast(4)
        if !keepsContext { deflateReset(stream) }
        return output
    }

    private func deflate(_ input: Span<UInt8>, _ flush: Int32, into output: inout [UInt8]) {
        input.withUnsafeBufferPointer { input in
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.pointee.avail_in = UInt32(input.count)
            repeat {
                let space = Int(deflateBound(stream, UInt(stream.pointee.avail_in))) + 16
                output.append(addingCapacity: space) { span in
                    span.withUnsafeMutableBufferPointer { buffer, count in
                        stream.pointee.next_out = buffer.baseAddress! + count
                        stream.pointee.avail_out = UInt32(clamping: space)
                        let result = CLarderZlib.deflate(stream, flush)
                        precondition(result == Z_OK || result == Z_BUF_ERROR, "zlib compresses any bytes")
                        count += Int(UInt32(clamping: space) - stream.pointee.avail_out)
                    }
                }
            } while stream.pointee.avail_out == 0
        }
    }
}
