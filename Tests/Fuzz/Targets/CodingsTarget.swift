import HTTPSerialization

extension FuzzTarget {
    /// A body in content codings, which the first byte chooses: cut anywhere it is decoded the same, and never to more than the limits permit.
    package static let codings = FuzzTarget("Codings") { octets in
        guard let choice = octets.first else { return nil }
        let names = ["gzip", "deflate", "br", "zstd", "gzip, br", "zstd, gzip", "deflate, zstd", "br, deflate"]
        let body = Array(octets.dropFirst())
        let name = names[Int(choice) % names.count]
        let whole = decoded(body, ends: [body.count], name)
        if decoded(body, ends: Cuts.some(of: body), name) != whole { return "in pieces differs" }
        // How much came in so far decides what ratio is too much, so that pieces may be refused where the whole is not.
        if let narrow = decoded(body, ends: Cuts.some(of: body), name, ratio: 64), narrow != whole {
            return "a ratio changes the content"
        }
        if body.count < 100, decoded(body, ends: Cuts.each(of: body.count), name) != whole { return "octet by octet differs" }
        return nil
    }

    /// - Returns: `nil` where it is refused, for whatever reason: more of it at once may be too large before it is malformed.
    private static func decoded(_ body: [UInt8], ends: [Int], _ name: String, ratio: UInt64 = .max) -> [UInt8]? {
        let limits = CodingLimits(length: 1 << 16, ratio: ratio, ratioFloor: 1 << 12)
        guard let decoder = ContentDecoder(contentEncoding: [name], limits: limits) else { return nil }
        var content: [UInt8] = []
        var start = 0
        do {
            for end in ends where end > start {
                try decoder.decode(body.span.extracting(start..<end)) { piece in
                    piece.withUnsafeBufferPointer { content.append(contentsOf: $0) }
                }
                start = end
            }
            try decoder.finish()
            precondition(content.count <= 1 << 16, "past the limit")
            return content
        } catch {
            return nil
        }
    }
}
