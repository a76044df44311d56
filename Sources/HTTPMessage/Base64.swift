/// Strict base64 (RFC 4648 §4): the alphabet with `+` and `/`, and padding. Other bytes, and unused bits that are not zero, are errors.
@usableFromInline
package enum Base64 {
    @usableFromInline static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    @usableFromInline static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()

    @usableFromInline static let padding = UInt8(ascii: "=")

    /// This is inlined. Otherwise a bundle of CA certificates would be read byte by byte through a witness table, which is slow.
    @inlinable
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        let values = values
        var octets: [UInt8] = []
        octets.reserveCapacity(text.count / 4 * 3)
        var bits: UInt32 = 0
        var letters = 0
        var paddings = 0
        for letter in text {
            if letter == padding {
                paddings += 1
                continue
            }
            let value = values[Int(letter)]
            guard value != 0xFF, paddings == 0 else { return nil }
            bits = bits << 6 | UInt32(value)
            letters += 1
            if letters % 4 == 0 {
                octets.append(UInt8(truncatingIfNeeded: bits >> 16))
                octets.append(UInt8(truncatingIfNeeded: bits >> 8))
                octets.append(UInt8(truncatingIfNeeded: bits))
            }
        }
        switch (letters % 4, paddings) {
        case (0, 0): break
        case (2, 2) where bits & 0xF == 0:
            octets.append(UInt8(truncatingIfNeeded: bits >> 4))
        case (3, 1) where bits & 0x3 == 0:
            octets.append(UInt8(truncatingIfNeeded: bits >> 10))
            octets.append(UInt8(truncatingIfNeeded: bits >> 2))
        default: return nil
        }
        return octets
    }

    package static func encode(_ octets: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: octets.count, by: 3) {
            let group = octets[start..<min(start + 3, octets.count)]
            var bits: UInt32 = 0
            for place in 0..<3 { bits = bits << 8 | UInt32(place < group.count ? group[start + place] : 0) }
            for place in 0..<4 {
                text.append(place <= group.count ? alphabet[Int(bits >> UInt32(18 - 6 * place) & 0x3F)] : padding)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    // MARK: The alphabet of URLs and file names

    /// Base64 with `-` and `_` instead of `+` and `/`, without padding (RFC 4648 §5).
    package static func encodeForURL(_ octets: [UInt8]) -> [UInt8] {
        encode(octets).utf8.compactMap { $0 == padding ? nil : letterForURL($0) }
    }

    /// Decodes the output of `encodeForURL`, with or without padding.
    package static func decodeFromURL(_ text: some Collection<UInt8>) -> [UInt8]? {
        var letters = text.map { letter in
            switch letter {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: letter
            }
        }
        while letters.last == padding { letters.removeLast() }
        while letters.count % 4 != 0 { letters.append(padding) }
        return decode(letters)
    }

    /// The character of the URL alphabet that replaces a character of the standard alphabet.
    package static func letterForURL(_ letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: letter
        }
    }
}
