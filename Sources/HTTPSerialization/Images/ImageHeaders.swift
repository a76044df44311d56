internal import CLarderZlib
import HTTPMessage

/// Reads width and height from the header of each image format, as its specification defines them.
enum ImageHeaders {
    private typealias Reader = @Sendable (HeaderOctets) throws(ImageStop) -> ImageInfo

    private static let kinds: [(mark: [UInt8], read: Reader)] = [
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], png), ([0xFF, 0xD8], jpeg), (Array("GIF87a".utf8), gif),
        (Array("GIF89a".utf8), gif), (Array("BM".utf8), bmp), ([0, 0, 1, 0], ico), (Array("II*\0".utf8), tiff),
        ([0x4D, 0x4D, 0, 0x2A], tiff), (Array("RIFF".utf8), WebPHeader.read),
    ]

    static func read(_ header: HeaderOctets) throws(ImageStop) -> ImageInfo {
        var needsMore = false
        for kind in kinds {
            do throws(ImageStop) {
                guard try header.has(kind.mark) else { continue }
            } catch {
                // The image may be of this kind, depending on the bytes that have not arrived.
                needsMore = true
                continue
            }
            return try kind.read(header)
        }
        if needsMore { throw .needsMore }
        if try header.has(Array("ftyp".utf8), at: 4) { return try AVIFHeader.read(header) }
        return try XBMHeader.read(header)
    }

    static func info(_ kind: ImageKind, _ width: Int, _ height: Int) throws(ImageStop) -> ImageInfo {
        guard width > 0, height > 0 else { throw .malformed("the size is invalid: \(width) by \(height) pixels") }
        return ImageInfo(kind: kind, width: width, height: height)
    }

    /// PNG: the size is in the first chunk, IHDR, whose checksum is verified (PNG §5.3, §11.2.1).
    private static func png(_ header: HeaderOctets) throws(ImageStop) -> ImageInfo {
        guard try header.big(8, 4) == 13, try header.has(Array("IHDR".utf8), at: 12) else {
            throw .malformed("the IHDR chunk is missing")
        }
        let expected = try header.big(29, 4)
        let found = header.octets[12..<29].withUnsafeBufferPointer { crc32(0, $0.baseAddress, UInt32($0.count)) }
        guard UInt(expected) == found else { throw .malformed("the CRC of IHDR is wrong") }
        let (width, height) = (try header.big(16, 4), try header.big(20, 4))
        guard width < 1 << 31, height < 1 << 31 else { throw .malformed("the size is invalid: \(width) by \(height) pixels") }
        return try info(.png, width, height)
    }

    /// JPEG: the size is in the frame header (ITU-T T.81 §B.2.2), which has one of thirteen markers. Earlier segments are skipped.
    private static func jpeg(_ header: HeaderOctets) throws(ImageStop) -> ImageInfo {
        var place = 2
        while true {
            guard try header.octet(place) == 0xFF else { throw .malformed("there is no marker at offset \(place)") }
            // Any number of 0xFF bytes may precede a marker.
            while try header.octet(place) == 0xFF { place += 1 }
            let marker = try header.octet(place)
            place += 1
            switch marker {
            case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(marker):
                guard try header.big(place, 2) >= 8 else { throw .malformed("the frame header is too short") }
                return try info(.jpeg, try header.big(place + 5, 2), try header.big(place + 3, 2))
            case 0x01, 0xD0...0xD7: continue
            case 0xC4, 0xC8, 0xCC, 0xDB...0xFE:
                let length = try header.big(place, 2)
                guard length >= 2 else { throw .malformed("the segment at offset \(place) is too short") }
                place += length
            default: throw .malformed("the marker \(marker) is not allowed before the frame header")
            }
        }
    }

    /// GIF: the size is in the logical screen descriptor (GIF89a §18).
    private static func gif(_ header: HeaderOctets) throws(ImageStop) -> ImageInfo {
        try info(.gif, try header.little(6, 2), try header.little(8, 2))
    }

    private static func bmp(_ header: HeaderOctets) throws(ImageStop) -> ImageInfo {
        switch try header.little(14, 4) {
        case 12: return try info(.bmp, try header.little(18, 2), try header.little(20, 2))
        case 16, 40, 52, 56, 64, 108, 124:
            let width = Int(Int32(truncatingIfNeeded: try header.little(18, 4)))
            // A negative height means that rows are stored top-down.
            let height = Int(Int32(truncatingIfNeeded: try header.little(22, 4)))
            return try info(.bmp, width, abs(height))
        case let length: throw .malformed("the header has the unknown length \(length)")
        }
    }

    /// ICO: a directory of images. Width and height have one byte each; 0 means 256.
    private static func ico(_ header: HeaderOctets) throws(ImageStop) -> ImageInfo {
        let count = try header.little(4, 2)
        guard count > 0 else { throw .malformed("the icon contains no image") }
        var largest = (width: 0, height: 0)
        for number in 0..<count {
            let place = 6 + number * 16
            // If an entry is incomplete, the directory is truncated.
            _ = try header.octet(place + 15)
            let (width, height) = (try header.octet(place), try header.octet(place + 1))
            let size = (width: width == 0 ? 256 : width, height: height == 0 ? 256 : height)
            if size.width * size.height > largest.width * largest.height { largest = size }
        }
        return try info(.ico, largest.width, largest.height)
    }

    /// TIFF: the size is in the first directory (TIFF 6.0 §2), which may be anywhere in the file.
    private static func tiff(_ header: HeaderOctets) throws(ImageStop) -> ImageInfo {
        let isLittle = try header.octet(0) == 0x49
        func number(_ place: Int, _ length: Int) throws(ImageStop) -> Int {
            isLittle ? try header.little(place, length) : try header.big(place, length)
        }
        let directory = try number(4, 4)
        guard directory >= 8 else { throw .malformed("the directory has the invalid offset \(directory)") }
        let count = try number(directory, 2)
        var sizes: [Int: Int] = [:]
        for entry in 0..<count {
            let place = directory + 2 + entry * 12
            let tag = try number(place, 2)
            guard tag == 256 || tag == 257 else { continue }
            switch try number(place + 2, 2) {
            case 3: sizes[tag] = try number(place + 8, 2)
            case 4: sizes[tag] = try number(place + 8, 4)
            case let type: throw .malformed("the width or height has the invalid type \(type)")
            }
        }
        guard let width = sizes[256], let height = sizes[257] else { throw .malformed("the directory contains no size") }
        return try info(.tiff, width, height)
    }
}
