import HTTPMessage

/// Request fields by which some origin servers choose another resource, host or method, and which stand in no key (T18).
///
/// A response to such a request is passed on and not stored, so that one client cannot prepare a response for others.
enum UnkeyedInput {
    /// Whether such a field stands there that rules have not taken into the key.
    static func isPresent(in fields: Fields, _ secondary: SecondaryKey = .none) -> Bool {
        for line in fields.lines {
            let name = fields.name(of: line)
            switch line.known {
            case .xForwardedFor, .forwarded:
                if !secondary.contains(name) { return true }
                continue
            case .other: break
            default: continue
            }
            guard name.count > 2, name[0] | 0x20 == 0x78, name[1] == 0x2D else { continue }
            if isNamed(name), !secondary.contains(name) { return true }
        }
        return false
    }

    private static func isNamed(_ name: Span<UInt8>) -> Bool {
        let forwarded: StaticString = "x-forwarded-"
        let prefixCount = forwarded.utf8CodeUnitCount
        if name.count > prefixCount, name.extracting(0..<prefixCount).equalsIgnoringCase(forwarded) { return true }
        return name.equalsIgnoringCase("x-original-url") || name.equalsIgnoringCase("x-rewrite-url")
            || name.equalsIgnoringCase("x-original-host") || name.equalsIgnoringCase("x-host")
            || name.equalsIgnoringCase("x-http-host-override")
            || name.equalsIgnoringCase("x-http-method-override") || name.equalsIgnoringCase("x-http-method")
            || name.equalsIgnoringCase("x-method-override")
    }
}
