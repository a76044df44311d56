import CLarderZlib

/// zlib's window bits, which also select the format around the deflate stream.
enum Wrapping: Int32, CaseIterable {
    case gzip = 31
    case zlib = 15
    case raw = -15
}

func deflated(_ octets: [UInt8], _ wrapping: Wrapping) -> [UInt8] {
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    precondition(deflateInit2_(&stream, 9, Z_DEFLATED, wrapping.rawValue, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK)
    defer { deflateEnd(&stream) }
    var input = octets
    var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(octets.count))) + 64)
    let produced = input.withUnsafeMutableBufferPointer { input in
        output.withUnsafeMutableBufferPointer { output in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(output.count)
            precondition(deflate(&stream, Z_FINISH) == Z_STREAM_END)
            return output.count - Int(stream.avail_out)
        }
    }
    return Array(output.prefix(produced))
}
