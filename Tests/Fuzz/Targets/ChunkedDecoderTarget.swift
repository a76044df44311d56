import HTTPMessage
import HTTPWire

extension FuzzTarget {
    /// A chunked body: cut anywhere it is decoded the same, and what was decoded is coded again and decoded the same.
    package static let chunkedDecoder = FuzzTarget("ChunkedDecoder") { octets in
        check(octets, limits: .chosen(by: octets))
    }

    private static func check(_ octets: [UInt8], limits: ParseLimits) -> String? {
        func read(_ octets: [UInt8], ends: [Int], limits: ParseLimits) -> ReadBody {
            ReadBody(octets, framing: .chunked, ends: ends, limits: limits)
        }
        let whole = read(octets, ends: [octets.count], limits: limits)
        if read(octets, ends: Cuts.each(of: octets.count), limits: limits) != whole { return "octet by octet differs" }
        if read(octets, ends: Cuts.some(of: octets), limits: limits) != whole { return "in pieces differs" }
        guard case .read(let body) = whole else { return nil }
        if body.consumed > octets.count { return "more was consumed than there was" }
        for chunkLength in [7, 4096] {
            let written = ReadBody.write(body, chunkLength: chunkLength)
            guard case .read(let again) = read(written, ends: [written.count], limits: ParseLimits()) else {
                return "what was decoded is refused when it is coded again"
            }
            if again.consumed != written.count { return "what was coded again ends early" }
            if again.content != body.content || again.trailers != body.trailers { return "what was coded again is another" }
        }
        return nil
    }
}
