import HTTPMessage
import HTTPSerialization

/// Makes the text that replaces a secret in a recording. Under one key, the same secret always has the same placeholder. The
/// placeholder has the secret's form, so that clients can parse it.
package enum Placeholder {
    package static func make(for secret: [UInt8], _ kind: SecretKind, under key: ProjectKey) -> [UInt8] {
        let code = key.code(of: secret)
        let opaque = SecretMark.word + code[..<32]
        switch kind {
        case .opaque: return opaque
        case .basic: return Array(Base64.encode(Array("larder:".utf8) + opaque).utf8)
        case .awsKeyID: return Array(secret[..<4]) + SecretMark.capitals + capitals(code, count: 10)
        case .slackToken: return Array(secret[..<5]) + opaque
        case .prefixedToken: return TokenForm.prefix(of: secret) + opaque
        case .gitHubToken:
            let fineGrained = Array("github_pat_".utf8)
            if secret.starts(with: fineGrained) {
                return fineGrained + SecretMark.word + code[..<10] + [UInt8(ascii: "_")] + code[..<59]
            }
            return Array(secret[..<4]) + SecretMark.word + code[..<24]
        case .privateKey:
            let lines = secret.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: true)
            // The first line consists of `BEGIN`, a space in its escaped form, and the key type.
            let label = lines.first.map { Array($0.dropFirst("BEGIN".utf8.count)) } ?? Array(" PRIVATE KEY".utf8)
            // In JSON, URIs and forms, line feeds are escaped.
            let escape = label.first == ASCII.space ? Array("\\n".utf8) : EscapedText.lineFeed
            let feed = secret.contains(ASCII.lf) ? [ASCII.lf] : escape
            let dashes = Array("-----".utf8)
            return dashes + Array("BEGIN".utf8) + label + dashes + feed + opaque + feed + dashes + Array("END".utf8) + label
                + dashes
        case .webToken:
            return SecretMark.tokenHeader + [0x2E] + payload(of: secret, code) + [0x2E] + opaque
        }
    }

    /// The payload of a token's placeholder. It keeps only the token's times, since clients read them.
    private static func payload(of token: [UInt8], _ code: [UInt8]) -> [UInt8] {
        let parts = token.split(separator: 0x2E, omittingEmptySubsequences: false)
        var members: [(String, JSONValue)] = []
        if parts.count == 3, let text = Base64.decodeFromURL(parts[1]),
            // A payload that is not JSON has no times to keep.
            let claims = try? JSONValue(parsing: text, options: JSONParseOptions(depthLimit: 16, lengthLimit: 64 << 10))
        {
            for name in ["exp", "iat", "nbf"] {
                if let number = claims[name]?.number { members.append((name, .number(number))) }
            }
        }
        members.append(("larder", .string(String(decoding: code[..<32], as: UTF8.self))))
        return Base64.encodeForURL(JSONValue.object(JSONObject(members)).text())
    }

    private static func capitals(_ code: [UInt8], count: Int) -> [UInt8] {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
        return (0..<count).map { place in
            let value = (ASCII.hexValue(code[2 * place]) ?? 0) << 4 | (ASCII.hexValue(code[2 * place + 1]) ?? 0)
            return letters[Int(value & 31)]
        }
    }
}
