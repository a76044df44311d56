import HTTPMessage

/// A text in UTF-16, converted to UTF-8 for the search for secrets. The text itself stays in UTF-16: secrets are found in the UTF-8
/// form, and replaced in the original.
struct UTF16Text {
    enum ByteOrder: Sendable { case bigEndian, littleEndian }

    let order: ByteOrder
    let utf8: [UInt8]
    private let source: [UInt8]

    /// - Returns: `nil` unless the text begins with a byte order mark of UTF-16, or with two ASCII characters in UTF-16 (XML 1.0
    ///   appendix F.1).
    init?(_ octets: [UInt8]) {
        guard let order = Self.order(of: octets) else { return nil }
        self.order = order
        source = octets
        var utf8: [UInt8] = []
        utf8.reserveCapacity(octets.count / 2)
        var place = 0
        while let (scalar, next) = Self.scalar(in: octets, at: place, order) {
            utf8 += UTF8.encode(scalar)!  // UTF-8 can represent every scalar
            place = next
        }
        self.utf8 = utf8
    }

    private static func order(of octets: [UInt8]) -> ByteOrder? {
        guard octets.count >= 4 else { return nil }
        if octets.starts(with: [0xFE, 0xFF]) { return .bigEndian }
        // The byte order mark of UTF-32 begins in the same way.
        if octets.starts(with: [0xFF, 0xFE]) { return octets[2] == 0 && octets[3] == 0 ? nil : .littleEndian }
        func isASCII(_ places: [Int]) -> Bool { places.allSatisfy { (0x09...0x7E).contains(octets[$0]) } }
        if octets[0] == 0, octets[2] == 0, isASCII([1, 3]) { return .bigEndian }
        return octets[1] == 0 && octets[3] == 0 && isASCII([0, 2]) ? .littleEndian : nil
    }

    /// - Returns: a scalar and the position after it; `nil` at the end. A lone surrogate becomes U+FFFD.
    private static func scalar(in octets: [UInt8], at place: Int, _ order: ByteOrder) -> (Unicode.Scalar, next: Int)? {
        func unit(_ place: Int) -> UInt32? {
            guard place + 1 < octets.count else { return nil }
            let (first, second) = (UInt32(octets[place]), UInt32(octets[place + 1]))
            return order == .bigEndian ? first << 8 | second : second << 8 | first
        }
        guard let first = unit(place) else { return nil }
        if let scalar = Unicode.Scalar(first) { return (scalar, place + 2) }
        guard first >> 10 == 0xD800 >> 10, let second = unit(place + 2), second >> 10 == 0xDC00 >> 10,
            let scalar = Unicode.Scalar(0x10000 + (first & 0x3FF) << 10 + (second & 0x3FF))
        else { return ("\u{FFFD}", place + 2) }
        return (scalar, place + 4)
    }

    /// Converts secrets of the UTF-8 form to secrets of the text in UTF-16.
    /// - Parameter found: secrets in order and without overlaps.
    func inSource(_ found: [FoundSecret]) -> [FoundSecret] {
        // One pass over the text finds all positions; a table of them would take many times the text's memory.
        var (place, ofUTF8) = (0, 0)
        func position(_ target: Int) -> Int {
            while ofUTF8 < target, let (scalar, next) = Self.scalar(in: source, at: place, order) {
                ofUTF8 += UTF8.width(scalar)
                place = next
            }
            return place
        }
        return found.map { secret in
            let start = position(secret.range.lowerBound)
            var moved = FoundSecret(
                range: start..<position(secret.range.upperBound), kind: secret.kind, isPlaceholder: secret.isPlaceholder,
                value: secret.value ?? Array(utf8[secret.range]), quote: secret.quote, evidence: secret.evidence)
            moved.byteOrder = order
            return moved
        }
    }

    /// A text in UTF-8, converted to UTF-16.
    static func encoded(_ text: [UInt8], _ order: ByteOrder) -> [UInt8] {
        String(decoding: text, as: UTF8.self).utf16.flatMap { unit in
            let octets = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
            return order == .bigEndian ? octets : octets.reversed()
        }
    }
}
