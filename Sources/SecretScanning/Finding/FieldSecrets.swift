import HTTPMessage

/// The secrets in a field line, according to its name: the credential, the values of cookies, or the whole value of a field whose name
/// indicates a secret.
enum FieldSecrets {
    enum Part {
        case secrets([FoundSecret])
        /// The value has no special meaning, and is searched like other text.
        case text
    }

    /// - Parameter evidence: how strongly the field's name indicates a secret.
    /// - Returns: the secrets as ranges in the value, in order.
    static func part(of line: FieldLine, in fields: Fields, _ evidence: SecretNames.Evidence?) -> Part {
        let value = Array(fields.bytes[line.value.range])
        switch line.known {
        case .authorization, .proxyAuthorization: return .secrets(credentials(in: value))
        case .cookie: return .secrets(cookies(in: value))
        case .setCookie: return .secrets(setCookie(in: value))
        case .other:
            guard let evidence, SecretNames.isSecret(value, under: evidence) else { return .text }
            let name = SecretNames.normalised(fields.bytes[line.name.range])
            let isCredential = String(decoding: name, as: UTF8.self).hasSuffix("authorization")
            return .secrets(isCredential ? credentials(in: value) : whole(value, 0..<value.count, evidence))
        default: return .text
        }
    }

    /// The credentials in a value. The authentication scheme before them is not a secret (RFC 9110 §11.4).
    private static func credentials(in value: [UInt8]) -> [FoundSecret] {
        let scheme = value.prefix { $0 != ASCII.space }
        let rest = value[scheme.count...].prefix { $0 == ASCII.space }.endIndex
        // A credential without a scheme is a secret as a whole.
        if rest == value.count { return whole(value, 0..<value.count, .named) }
        let isBasic = scheme.map(ASCII.lowercased) == Array("basic".utf8)
        guard isBasic else { return whole(value, rest..<value.count, .named) }
        return [
            FoundSecret(
                range: rest..<value.count, kind: .basic, isPlaceholder: BasicSecret.isPlaceholder(value[rest...]))
        ]
    }

    /// The credential in a value that consists of a scheme and a credential, in a field of any name. `SecretScan` finds the other
    /// credentials, which stand among other words.
    static func credential(in value: [UInt8]) -> FoundSecret? {
        guard let scheme = value.withUnsafeBufferPointer({ StructuredSecrets.scheme(of: $0[...]) }) else { return nil }
        let rest = value[scheme...]
        // Challenges have parameters instead (RFC 9110 §11.6.1).
        guard rest.allSatisfy(SecretScan.isToken68), !rest.dropLast(2).contains(ASCII.equals) else { return nil }
        guard ASCII.lowercased(value[1]) == UInt8(ascii: "a") else {
            // Other values are words, such as `required` and `JWT`.
            let isMixed = rest.contains { !ASCII.isUppercase($0) } && rest.dropFirst().contains(where: ASCII.isUppercase)
            guard rest.contains(where: ASCII.isDigit) || isMixed else { return nil }
            return whole(value, scheme..<value.count, .named).first
        }
        guard BasicSecret.isCredentials(rest) else { return nil }
        return FoundSecret(range: scheme..<value.count, kind: .basic, isPlaceholder: BasicSecret.isPlaceholder(rest))
    }

    /// The secrets in a Cookie value: `name=value; name=value` (RFC 6265 §4.2.1).
    private static func cookies(in value: [UInt8]) -> [FoundSecret] {
        var found: [FoundSecret] = []
        var start = 0
        while start < value.count {
            let end = value[start...].firstIndex(of: ASCII.semicolon) ?? value.count
            let equals = value[start..<end].firstIndex(of: ASCII.equals)
            found += whole(value, (equals.map { $0 + 1 } ?? start)..<end, cookieEvidence)
            start = end + 1
            while start < value.count, ASCII.isBlank(value[start]) { start += 1 }
        }
        return found
    }

    /// The secrets in a Set-Cookie value: `name=value; attributes` (RFC 6265 §4.1.1).
    private static func setCookie(in value: [UInt8]) -> [FoundSecret] {
        let end = value.firstIndex(of: ASCII.semicolon) ?? value.count
        guard let equals = value[..<end].firstIndex(of: ASCII.equals) else { return [] }
        return whole(value, equals + 1..<end, cookieEvidence)
    }

    /// Many cookies hold words such as `dark`: only values that look random are also searched for elsewhere.
    private static let cookieEvidence = SecretNames.Evidence.random(16)

    private static func whole(_ value: [UInt8], _ range: Range<Int>, _ evidence: SecretNames.Evidence) -> [FoundSecret] {
        let bounds = value.span.trimmedBounds(in: range)
        guard !bounds.isEmpty else { return [] }
        let token = value.withUnsafeBufferPointer { SecretScan.token(in: $0, at: bounds.lowerBound) }
        if let token, token.range == bounds { return [token] }
        let isOurs = value[bounds].starts(with: SecretMark.word)
        return [FoundSecret(range: bounds, kind: .opaque, isPlaceholder: isOurs, evidence: evidence)]
    }
}

extension Array<UInt8> {
    /// Replaces each secret in a text.
    package func replacing(_ secrets: [FoundSecret], by replacement: (ArraySlice<UInt8>, FoundSecret) -> [UInt8]) -> [UInt8] {
        if secrets.isEmpty { return self }
        var text: [UInt8] = []
        text.reserveCapacity(count)
        var place = 0
        for secret in secrets {
            text += self[place..<secret.range.lowerBound]
            let marked = secret.quote + replacement(self[secret.range], secret) + secret.quote
            text += secret.byteOrder.map { UTF16Text.encoded(marked, $0) } ?? marked
            place = secret.range.upperBound
        }
        return text + self[place...]
    }
}
