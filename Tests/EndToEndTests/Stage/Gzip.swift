import CLarderZlib

enum Gzip {
    /// Compresses the bytes with gzip.
    static func pack(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        precondition(deflateInit2_(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK)
        defer { deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: bytes.count / 100 + 1024)
        let count = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                stream.next_in = source.baseAddress
                stream.avail_in = uInt(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = uInt(target.count)
                precondition(deflate(&stream, Z_FINISH) == Z_STREAM_END)
                return target.count - Int(stream.avail_out)
            }
        }
        return Array(output[..<count])
    }

    /// Decompresses gzip's format.
    static func unpack(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        precondition(inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK)
        defer { inflateEnd(&stream) }
        var input = bytes
        var result: [UInt8] = []
        var output = [UInt8](repeating: 0, count: 64 << 10)
        input.withUnsafeMutableBufferPointer { source in
            stream.next_in = source.baseAddress
            stream.avail_in = uInt(source.count)
            var code = Z_OK
            while code == Z_OK {
                output.withUnsafeMutableBufferPointer { target in
                    stream.next_out = target.baseAddress
                    stream.avail_out = uInt(target.count)
                    code = inflate(&stream, Z_NO_FLUSH)
                }
                result += output[..<(output.count - Int(stream.avail_out))]
            }
            precondition(code == Z_STREAM_END)
        }
        return result
    }
}
