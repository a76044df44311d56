import HTTPMessage
import HTTPWire

extension FuzzTarget {
    /// A request's head: cut anywhere it is read the same, and what is accepted is written back and read the same.
    package static let requestParser = FuzzTarget("RequestParser") { octets in
        check(octets, limits: .chosen(by: octets))
    }

    private static func check(_ octets: [UInt8], limits: ParseLimits) -> String? {
        let whole = ReadRequest(octets, ends: [octets.count], limits: limits)
        if ReadRequest(octets, ends: Cuts.each(of: octets.count), limits: limits) != whole { return "octet by octet differs" }
        if ReadRequest(octets, ends: Cuts.some(of: octets), limits: limits) != whole { return "in pieces differs" }
        guard case .read(let head) = whole else { return nil }
        if let fault = faultOfAccepted(head) { return fault }
        // The head may have become longer by a blank behind each colon, so that it is not held to the limits again.
        guard case .read(let again) = ReadRequest(head.written, ends: [head.written.count], limits: ParseLimits()) else {
            return "what was accepted is refused when it is written again"
        }
        if again.length != head.written.count { return "what was written again ends early" }
        if again.written != head.written || again.fields != head.fields { return "what was written again is another" }
        if head.framingError == nil, again.framing != head.framing { return "what was written again is framed otherwise" }
        return nil
    }

    /// What must never be in a head that was accepted.
    private static func faultOfAccepted(_ head: ReadRequest.Head) -> String? {
        if head.bytes.count > head.length { return "a head longer than its input" }
        for line in head.lines {
            let name = head.bytes[line.name.range]
            if name.isEmpty || !name.allSatisfy(ASCII.isTokenCharacter) { return "a name that is no token" }
            if !head.bytes[line.value.range].allSatisfy(ASCII.isFieldValueCharacter) { return "a value with a control" }
        }
        let host = head.bytes[head.target.host.range]
        if !host.allSatisfy({ ASCII.isTokenCharacter($0) || $0 == ASCII.colon }) { return "a host of odd octets" }
        let path = head.bytes[head.target.path.range] + head.bytes[head.target.query.range]
        if path.contains(where: { $0 <= 0x20 || $0 == UInt8(ascii: "#") }) { return "a path of odd octets" }
        return nil
    }
}
