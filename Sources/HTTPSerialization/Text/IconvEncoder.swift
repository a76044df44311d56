import Glibc

/// Encodes text with the C library's `iconv`.
enum IconvEncoder {
    private static let pieceLength = 16 << 10

    /// - Returns: `nil` if the charset lacks a character of the text.
    static func octets(of text: String, in charset: String) -> [UInt8]? {
        // `iconv_open` returns -1 if the C library has no table for this charset.
        guard let descriptor = iconv_open(charset, "UTF-8"), descriptor != iconv_t(bitPattern: -1) else { return nil }
        defer { iconv_close(descriptor) }
        let source = Array(text.utf8)
        var octets: [UInt8] = []
        octets.reserveCapacity(source.count)
        var index = 0
        var piece = [UInt8](repeating: 0, count: pieceLength)
        while index < source.count {
            let (used, made, code) = IconvDecoder.step(descriptor, source[index...], &piece)
            index += used
            octets += piece[..<made]
            // E2BIG means that the output buffer `piece` is full.
            if code != 0 && code != E2BIG { return nil }
        }
        // Return to the charset's initial shift state.
        let (_, made, _) = IconvDecoder.step(descriptor, nil, &piece)
        return octets + piece[..<made]
    }
}
