import HTTPMessage

/// XBM: C source text that begins with `#define name_width 16` and `#define name_height 16`, in any order.
enum XBMHeader {
    private static let lineLimit = 32
    private static let lineLength = 512

    static func read(_ header: HeaderOctets) throws(ImageStop) -> ImageInfo {
        var width: Int?
        var height: Int?
        var place = 0
        for number in 0..<lineLimit {
            let line = try line(in: header, from: &place)
            let words = line.split { ASCII.isBlank($0) }
            guard words.first?.elementsEqual("#define".utf8) == true else {
                if number == 0 || !words.isEmpty { break }
                continue
            }
            guard words.count == 3, let value = value(words[2]) else { throw .malformed("a definition has no number") }
            if words[1].elementsEqual("width".utf8) || words[1].suffix(6).elementsEqual("_width".utf8) { width = value }
            if words[1].elementsEqual("height".utf8) || words[1].suffix(7).elementsEqual("_height".utf8) { height = value }
            if let width, let height { return try ImageHeaders.info(.xbm, width, height) }
        }
        throw .malformed("the image format is unknown")
    }

    /// The next line. A first line that cannot begin with `#define` is rejected before its end has arrived.
    private static func line(in header: HeaderOctets, from place: inout Int) throws(ImageStop) -> ArraySlice<UInt8> {
        let start = place
        while true {
            guard place < header.octets.count else {
                let begun = header.octets[start...].drop { ASCII.isBlank($0) }
                let isPossible = zip(begun, "#define".utf8).allSatisfy { $0 == $1 }
                if !isPossible && start == 0 { throw .malformed("the image format is unknown") }
                throw .needsMore
            }
            let octet = header.octets[place]
            place += 1
            if octet == ASCII.lf { break }
            if place - start > lineLength { throw .malformed("the image format is unknown") }
        }
        let line = header.octets[start..<place - 1]
        return line.last == ASCII.cr ? line.dropLast() : line
    }

    private static func value(_ digits: ArraySlice<UInt8>) -> Int? {
        guard digits.count <= 9, digits.allSatisfy(ASCII.isDigit) else { return nil }
        return Int(String(decoding: digits, as: UTF8.self))
    }
}
