import Glibc

/// Decodes text with the C library's `iconv`.
enum IconvDecoder {
    private static let pieceLength = 16 << 10

    static func text(
        of octets: [UInt8], in charset: String, unitLength: Int, replacesFaults: Bool
    ) throws(TextFault) -> String {
        let marks: [[UInt8]] = charset == "UTF-16BE" ? [[0xFE, 0xFF]] : charset == "UTF-16LE" ? [[0xFF, 0xFE]] : []
        let start = marks.contains { octets.starts(with: $0) } ? 2 : 0
        // `iconv_open` returns -1 if the C library has no table for this charset.
        guard let descriptor = iconv_open("UTF-8", charset), descriptor != iconv_t(bitPattern: -1) else {
            throw TextFault(offset: 0)
        }
        defer { iconv_close(descriptor) }
        var text: [UInt8] = []
        text.reserveCapacity(octets.count)
        var index = start
        var piece = [UInt8](repeating: 0, count: pieceLength)
        while index < octets.count {
            let (used, made, code) = step(descriptor, octets[index...], &piece)
            index += used
            text += piece[..<made]
            // E2BIG means that the output buffer `piece` is full.
            if code == 0 || code == E2BIG { continue }
            guard replacesFaults else { throw TextFault(offset: index) }
            text += [0xEF, 0xBF, 0xBD]
            index += unitLength
        }
        // At the end iconv returns what it has buffered for the charset.
        let (_, made, _) = step(descriptor, nil, &piece)
        text += piece[..<made]
        return String(decoding: text, as: UTF8.self)
    }

    static func step(
        _ descriptor: iconv_t, _ octets: ArraySlice<UInt8>?, _ piece: inout [UInt8]
    ) -> (used: Int, made: Int, code: Int32) {
        piece.withUnsafeMutableBytes { output in
            var next = output.baseAddress?.assumingMemoryBound(to: CChar.self)
            var room = output.count
            guard let octets else {
                _ = iconv(descriptor, nil, nil, &next, &room)
                return (0, output.count - room, 0)
            }
            return octets.withUnsafeBytes { input in
                // iconv takes a mutable pointer to its input, but does not change it.
                var start = UnsafeMutablePointer(mutating: input.baseAddress?.assumingMemoryBound(to: CChar.self))
                var left = input.count
                let result = iconv(descriptor, &start, &left, &next, &room)
                return (input.count - left, output.count - room, result == Int(bitPattern: UInt.max) ? errno : 0)
            }
        }
    }
}
