import HTTPMessage

/// Decides which names indicate a secret. Ignores case, `_`, `-`, and digits at the end.
///
/// A name that ends in `token`, `secret`, `password`, `key` or `signature` indicates a secret. Exceptions are the names in `harmless`
/// and `harmlessEndings`, which have other known meanings, such as page tokens and sort keys.
enum SecretNames {
    /// Where a name is used.
    enum Site: Sendable {
        case field, query, form, json, xml
    }

    /// How strongly a name indicates a secret.
    enum Evidence: Equatable, Sendable {
        /// A password or a PIN: any value is a secret, even a number; short values are also searched for elsewhere.
        case password
        /// Any text is a secret.
        case named
        /// Only a value that looks random and has at least this many bytes is a secret, because the name has other meanings too.
        case random(Int)
    }

    /// - Parameter name: the unescaped name.
    static func evidence(_ name: some Collection<UInt8>, at site: Site) -> Evidence? {
        let name = withoutNumber(normalised(name))
        return name.isEmpty ? nil : evidence(normalised: String(decoding: name, as: UTF8.self), at: site)
    }

    /// The last part of the name in lower case, without `_` and `-`: `user[new_password]` becomes `newpassword`.
    static func normalised(_ name: some Collection<UInt8>) -> [UInt8] {
        var part: [UInt8] = []
        var isBehindSeparator = false
        for octet in name {
            switch octet {
            case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "."), ASCII.colon, ASCII.slash, UInt8(ascii: "$"),
                UInt8(ascii: "@"):
                isBehindSeparator = true
            case UInt8(ascii: "_"), UInt8(ascii: "-"), ASCII.space: continue
            default:
                if isBehindSeparator { part = [] }
                isBehindSeparator = false
                part.append(ASCII.lowercased(octet))
            }
        }
        return part
    }

    private static func withoutNumber(_ name: [UInt8]) -> [UInt8] {
        Array(name.prefix((name.lastIndex { !ASCII.isDigit($0) } ?? -1) + 1))
    }

    private static func evidence(normalised name: String, at site: Site) -> Evidence? {
        if passwords.contains(name) || passwordEndings.contains(where: name.hasSuffix) { return .password }
        if exact.contains(name) { return .named }
        let isOfURL = site == .query || site == .form
        if ofURLs.contains(name) { return isOfURL ? .named : .random(16) }
        // The policy of a signed URL of CloudFront (`Policy`) or of a form for S3 is base64 text.
        if isOfURL, name == "policy" { return .random(40) }
        if isOfURL || site == .field {
            if name == "key" { return .random(16) }
            if name == "code" { return .random(8) }
        }
        if name == "key" || harmless.contains(name) || harmlessEndings.contains(where: name.hasSuffix) { return nil }
        return endings.contains(where: name.hasSuffix) ? .named : nil
    }

    private static let passwordEndings = ["password", "passwd", "passphrase", "passcode", "pwd", "secret"]
    private static let passwords: Set<String> = [
        "pass", "pw", "pin", "otp", "totp", "mfacode", "otpcode", "passwordconfirmation",
    ]

    private static let endings = [
        "token", "key", "signature", "credential", "credentials", "authorization", "assertion", "sessionid", "jwt",
        "connectionstring",
    ]
    private static let exact: Set<String> = [
        "auth", "authcode", "authorizationcode", "bearer", "codeverifier", "cookie", "csrf", "devicecode", "jsessionid",
        "phpsessid", "recoverycode", "samlresponse", "secretid", "sessid", "accesskeyid", "awsaccesskeyid", "ossaccesskeyid",
        "keypairid", "setcookie", "verificationcode", "xauth", "xsrf",
    ]
    /// Names that indicate secrets in queries and forms. In fields, JSON and XML they have other meanings too.
    private static let ofURLs: Set<String> = ["hmac", "session", "sid", "sig"]

    /// Endings of names that look like names of secrets, but are harmless.
    private static let harmlessEndings = [
        // Tokens for pagination.
        "nexttoken", "pagetoken", "continuationtoken", "paginationtoken", "synctoken", "resumetoken", "cursortoken",
        // Keys for lookup and sorting.
        "sortkey", "sortingkey", "partitionkey", "primarykey", "foreignkey", "rangekey", "hashkey", "rowkey", "objectkey",
        "cachekey", "surrogatekey", "idempotencykey", "translationkey", "messagekey", "issuekey", "projectkey", "startkey",
        "endkey", "groupkey", "indexkey", "uniquekey", "tagkey", "orderkey", "metadatakey", "lookupkey",
        // Keys that are public.
        "publickey", "sitekey", "websocketkey", "hostkey",
        // Plain words that end in `key`.
        "monkey", "turkey", "donkey", "hockey", "jockey", "whiskey",
        // CORS: whether credentials are sent.
        "allowcredentials", "withcredentials",
        "methodsignature", "functionsignature", "typesignature", "npmsignature",
    ]
    /// Tokens in vocabularies of language models.
    private static let harmless: Set<String> = [
        "bostoken", "eostoken", "unktoken", "padtoken", "septoken", "clstoken", "masktoken", "stoptoken", "specialtoken",
    ]

    /// Whether a value is a secret, given how strongly its name indicates one.
    static func isSecret(_ value: some Collection<UInt8>, under evidence: Evidence) -> Bool {
        if value.isEmpty || nothing.contains(String(decoding: value.prefix(10), as: UTF8.self).lowercased()) { return false }
        return if case .random(let count) = evidence { value.count >= count && looksRandom(value) } else { true }
    }

    private static let nothing: Set<String> = ["true", "false", "null", "none", "undefined"]

    /// Whether the value is a single word that has letters and digits, or letters and at least 20 bytes.
    private static func looksRandom(_ value: some Collection<UInt8>) -> Bool {
        var hasLetter = false
        var hasDigit = false
        for octet in value {
            if ASCII.isAlpha(octet) {
                hasLetter = true
            } else if ASCII.isDigit(octet) {
                hasDigit = true
            } else if !"-_.~%/+=".utf8.contains(octet) {
                return false
            }
        }
        return hasLetter && (hasDigit || value.count >= 20)
    }
}
