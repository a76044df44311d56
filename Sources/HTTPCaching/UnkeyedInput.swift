import HTTPMessage

/// Request fields that some origin servers use to select another resource, host or method, and that are not part of the key (T18 in
/// docs/threats.md).
///
/// A response to such a request is forwarded but not stored, so that one client cannot choose the response that other clients get.
enum UnkeyedInput {
    /// Whether the request has such a field that no rule has added to the key.
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
            if isNamed(name), !secondary.contains(name) { return true }
        }
        return false
    }

    private static func isNamed(_ name: Span<UInt8>) -> Bool {
        guard name.count > 2, name[0] | 0x20 == 0x78, name[1] == 0x2D || name[1] == 0x5F else { return false }
        if begins(name, with: "x-forwarded") { return true }
        return names.contains { name.count == $0.utf8CodeUnitCount && begins(name, with: $0) }
    }

    private static let names: [StaticString] = [
        "x-original-url", "x-original-uri", "x-original-host", "x-rewrite-url", "x-host", "x-real-host", "x-backend-host",
        "x-scheme", "x-http-host-override", "x-http-method-override", "x-http-method", "x-method-override",
        // Next.js: fields that mark the framework's own requests, or name the path to route a request by.
        "x-middleware-subrequest", "x-invoke-path", "x-nextjs-data",
    ]

    /// Case-insensitive, with `_` equal to `-`, because CGI and WSGI map both names to one variable.
    private static func begins(_ name: Span<UInt8>, with expected: StaticString) -> Bool {
        guard name.count >= expected.utf8CodeUnitCount else { return false }
        for index in 0..<expected.utf8CodeUnitCount {
            let byte = name[index] == 0x5F ? 0x2D : ASCII.lowercased(name[index])
            guard byte == expected.utf8Start[index] else { return false }
        }
        return true
    }
}
