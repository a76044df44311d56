import HTTPMessage

/// How placeholders are known: no secret holds this word, and every placeholder of ours does, plainly or under base64.
package enum SecretMark {
    /// In front of hexadecimal digits of the placeholder's code.
    static let word = Array("larderSecret".utf8)
    /// In front of the code where a token has capital letters and digits alone.
    static let capitals = Array("LARDER".utf8)
    /// A placeholder JWT's header: `{"alg":"none","typ":"JWT","larder":"secret"}`.
    static let tokenHeader = Array("eyJhbGciOiJub25lIiwidHlwIjoiSldUIiwibGFyZGVyIjoic2VjcmV0In0".utf8)
    /// What stands in a canonical request in place of any secret.
    static let canonical = Array("{secret}".utf8)

    /// A URL for people, such as in a summary, with `{secret}` in the place of each secret.
    package static func replacingSecrets(inURL url: String) -> String {
        let bytes = Array(url.utf8)
        let found = SecretFinder.undeclared.secrets(inURI: bytes)
        return String(decoding: bytes.replacing(found) { _, _ in canonical }, as: UTF8.self)
    }
}

/// What a secret looks like, and so what its placeholder does.
package enum SecretKind: String, Sendable, CaseIterable {
    /// Three parts in base64url, the first of which begins a JSON object (RFC 7519).
    case webToken = "jwt"
    /// An access key's id of AWS.
    case awsKeyID = "aws_key_id"
    case gitHubToken = "github_token"
    case slackToken = "slack_token"
    /// Another service's token, known by its first letters (`TokenForm`).
    case prefixedToken = "token"
    /// The text of a private key (RFC 7468).
    case privateKey = "private_key"
    /// User and password in base64 (RFC 7617).
    case basic
    /// Anything else that stands where only secrets do.
    case opaque
}
