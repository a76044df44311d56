import HTTPMessage

/// Writes the chunked transfer coding (RFC 9112 §7.1). For each chunk, call `writeChunkHeader`, write the data, and call
/// `writeChunkEnd`. At the end, call `writeLastChunk`.
package enum ChunkWriter {
    /// Writes the line with a chunk's size. `count` must not be 0, which would end the body.
    package static func writeChunkHeader(count: Int, into output: inout [UInt8]) {
        precondition(count > 0, "a chunk holds at least one byte")
        var shift = (Int.bitWidth - count.leadingZeroBitCount - 1) & ~3
        while shift >= 0 {
            output.append(Hexadecimal.digit(UInt8(count >> shift & 15)))
            shift -= 4
        }
        writeLineEnd(into: &output)
    }

    /// Writes the CRLF after a chunk's data.
    package static func writeChunkEnd(into output: inout [UInt8]) {
        writeLineEnd(into: &output)
    }

    /// Writes the last chunk and the trailer section, which end the body.
    package static func writeLastChunk(trailers: Fields = Fields(), into output: inout [UInt8]) {
        output.append(0x30)
        writeLineEnd(into: &output)
        for line in trailers.lines { trailers.write(line, into: &output) }
        writeLineEnd(into: &output)
    }

    private static func writeLineEnd(into output: inout [UInt8]) {
        output.append(ASCII.cr)
        output.append(ASCII.lf)
    }
}
