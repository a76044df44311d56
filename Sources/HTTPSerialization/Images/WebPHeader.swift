/// WebP: a RIFF file with one of three chunk types (RFC 9649).
enum WebPHeader {
    static func read(_ header: HeaderOctets) throws(ImageStop) -> ImageInfo {
        guard try header.has(Array("WEBP".utf8), at: 8) else { throw .malformed("the RIFF file is not WebP") }
        switch try header.text(12, 4) {
        case "VP8 ":
            // RFC 6386 §9.1: the frame must be a key frame with its start code; width and height have 14 bits each.
            guard try header.octet(20) & 1 == 0, try header.has([0x9D, 0x01, 0x2A], at: 23) else {
                throw .malformed("the first frame is not a key frame")
            }
            return try ImageHeaders.info(.webp, try header.little(26, 2) & 0x3FFF, try header.little(28, 2) & 0x3FFF)
        case "VP8L":
            guard try header.octet(20) == 0x2F else { throw .malformed("the lossless signature is missing") }
            let bits = try header.little(21, 4)
            return try ImageHeaders.info(.webp, bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
        case "VP8X": return try ImageHeaders.info(.webp, try header.little(24, 3) + 1, try header.little(27, 3) + 1)
        case let form: throw .malformed("the WebP chunk \(form) is unknown")
        }
    }
}
