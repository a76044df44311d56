import HTTPMessage
import HTTPWire

extension FuzzTarget {
    /// A response's head: cut anywhere it is read the same, and what is accepted is written back and read the same.
    package static let responseParser = FuzzTarget("ResponseParser") { octets in
        check(octets, limits: .chosen(by: octets))
    }

    private static func check(_ octets: [UInt8], limits: ParseLimits) -> String? {
        let whole = ReadResponse(octets, ends: [octets.count], limits: limits)
        if ReadResponse(octets, ends: Cuts.each(of: octets.count), limits: limits) != whole { return "octet by octet differs" }
        if ReadResponse(octets, ends: Cuts.some(of: octets), limits: limits) != whole { return "in pieces differs" }
        guard case .read(let head) = whole else { return nil }
        for line in head.lines {
            let name = head.bytes[line.name.range]
            if name.isEmpty || !name.allSatisfy(ASCII.isTokenCharacter) { return "a name that is no token" }
            if !head.bytes[line.value.range].allSatisfy(ASCII.isFieldValueCharacter) { return "a value with a control" }
        }
        // The head may have become longer by a blank behind each colon, so that it is not held to the limits again.
        guard case .read(let again) = ReadResponse(head.written, ends: [head.written.count], limits: ParseLimits()) else {
            return "what was accepted is refused when it is written again"
        }
        if again.length != head.written.count { return "what was written again ends early" }
        if again.written != head.written || again.fields != head.fields { return "what was written again is another" }
        if again.framing != head.framing || again.framingError != head.framingError { return "framed otherwise" }
        return nil
    }
}
