import CLarderZlib

/// The first bytes of a PNG, up to its size.
enum PNGHeader {
    static func octets(_ width: UInt32, _ height: UInt32) -> [UInt8] {
        var header = Array("IHDR".utf8)
        for number in [width, height] { header += (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
        header += [8, 6, 0, 0, 0]
        let check = UInt32(crc32(0, header, UInt32(header.count)))
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + header
            + (0..<4).reversed().map { UInt8(truncatingIfNeeded: check >> ($0 * 8)) }
    }
}
