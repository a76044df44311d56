import HTTPMessage

/// How placeholders are known: no secret holds this word, and every placeholder of ours does, plainly or under base64.
package enum SecretMark {
    /// In front of hexadecimal digits of the placeholder's code.
    package static let word = Array("larderSecret".utf8)
    /// In front of the code where a token has capital letters and digits alone.
    static let capitals = Array("LARDER".utf8)
    /// A placeholder JWT's header: `{"alg":"none","typ":"JWT","larder":"secret"}`.
    static let tokenHeader = Array("eyJhbGciOiJub25lIiwidHlwIjoiSldUIiwibGFyZGVyIjoic2VjcmV0In0".utf8)
    /// What stands in a canonical request in place of any secret.
    package static let canonical = Array("{secret}".utf8)
}

/// Replaces secrets in URLs for people, such as in a summary.
package struct SecretMask: Sendable {
    private let finders: [SecretFinder]

    /// Finds what Larder knows for secrets by itself.
    package init() { finders = [.undeclared] }

    /// - Parameter secrets: what these declare is replaced too. Names that one of them declares as harmless indicate secrets here.
    /// - Throws: `malformed` for a pattern that cannot be read, `tooLarge` for too many.
    package init(_ secrets: [DeclaredSecrets]) throws(SecretScanningError) {
        var finders = [SecretFinder.undeclared]
        for secrets in secrets where secrets != DeclaredSecrets() { finders.append(try SecretFinder(secrets)) }
        self.finders = finders
    }

    /// The URL with `{secret}` in the place of each secret.
    package func masked(url: String) -> String {
        let bytes = Array(url.utf8)
        let found = finders.reduce([]) { $0.merged(with: $1.secrets(inURI: bytes)) }
        return String(decoding: bytes.replacing(found) { _, _ in SecretMark.canonical }, as: UTF8.self)
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
