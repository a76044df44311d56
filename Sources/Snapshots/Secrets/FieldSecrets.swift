import HTTPMessage

/// Which of a field line's octets are secrets: all of a credential, all values of cookies, and what is certainly a secret elsewhere.
enum FieldSecrets {
    /// Fields whose whole value is a secret, besides those that HTTP names.
    static let names: Set<String> = [
        "api-key", "x-amz-security-token", "x-api-key", "x-auth-token", "x-csrf-token", "x-xsrf-token",
    ]

    /// - Returns: places in the value, in order.
    static func secrets(of line: FieldLine, in fields: Fields) -> [FoundSecret] {
        let value = Array(fields.bytes[line.value.range])
        switch line.known {
        case .authorization, .proxyAuthorization: return credentials(in: value)
        case .cookie: return cookies(in: value)
        case .setCookie: return setCookie(in: value)
        case .other:
            let name = String(decoding: fields.bytes[line.name.range].map(ASCII.lowercased), as: UTF8.self)
            return names.contains(name) ? whole(value, 0..<value.count) : SecretScan.secrets(in: value)
        default: return SecretScan.secrets(in: value)
        }
    }

    /// The scheme stays (RFC 9110 §11.4).
    private static func credentials(in value: [UInt8]) -> [FoundSecret] {
        let scheme = value.prefix { $0 != ASCII.space }
        let rest = value[scheme.count...].prefix { $0 == ASCII.space }.endIndex
        // A credential without a scheme is one altogether.
        if rest == value.count { return whole(value, 0..<value.count) }
        let isBasic = scheme.map(ASCII.lowercased) == Array("basic".utf8)
        guard isBasic else { return whole(value, rest..<value.count) }
        return [
            FoundSecret(
                range: rest..<value.count, kind: .basic, isPlaceholder: BasicSecret.isPlaceholder(value[rest...]))
        ]
    }

    /// `name=value; name=value` (RFC 6265 §4.2.1).
    private static func cookies(in value: [UInt8]) -> [FoundSecret] {
        var found: [FoundSecret] = []
        var start = 0
        while start < value.count {
            let end = value[start...].firstIndex(of: ASCII.semicolon) ?? value.count
            let equals = value[start..<end].firstIndex(of: ASCII.equals)
            found += whole(value, (equals.map { $0 + 1 } ?? start)..<end)
            start = end + 1
            while start < value.count, ASCII.isBlank(value[start]) { start += 1 }
        }
        return found
    }

    /// `name=value; attributes` (RFC 6265 §4.1.1).
    private static func setCookie(in value: [UInt8]) -> [FoundSecret] {
        let end = value.firstIndex(of: ASCII.semicolon) ?? value.count
        guard let equals = value[..<end].firstIndex(of: ASCII.equals) else { return [] }
        return whole(value, equals + 1..<end)
    }

    private static func whole(_ value: [UInt8], _ range: Range<Int>) -> [FoundSecret] {
        let bounds = value.span.trimmedBounds(in: range)
        guard !bounds.isEmpty else { return [] }
        let token = value.withUnsafeBufferPointer { SecretScan.token(in: $0, at: bounds.lowerBound) }
        if let token, token.range == bounds { return [token] }
        let isOurs = value[bounds].starts(with: SecretMark.word)
        return [FoundSecret(range: bounds, kind: .opaque, isPlaceholder: isOurs)]
    }
}

extension Array<UInt8> {
    /// A text with something else in the place of each secret.
    func replacing(_ secrets: [FoundSecret], by replacement: (ArraySlice<UInt8>, FoundSecret) -> [UInt8]) -> [UInt8] {
        if secrets.isEmpty { return self }
        var text: [UInt8] = []
        text.reserveCapacity(count)
        var place = 0
        for secret in secrets {
            text += self[place..<secret.range.lowerBound]
            text += replacement(self[secret.range], secret)
            place = secret.range.upperBound
        }
        return text + self[place...]
    }
}
