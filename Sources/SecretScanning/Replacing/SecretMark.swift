import HTTPMessage

/// Marks by which placeholders are recognized. Every placeholder contains `word` or `capitals`, plain or in base64, and no
/// secret does.
package enum SecretMark {
    /// Precedes the hexadecimal digits of the placeholder's code.
    package static let word = Array("larderSecret".utf8)
    /// Precedes the placeholder's code in tokens that have only capital letters and digits.
    static let capitals = Array("LARDER".utf8)
    /// The header of a JWT that is a placeholder: `{"alg":"none","typ":"JWT","larder":"secret"}`.
    static let tokenHeader = Array("eyJhbGciOiJub25lIiwidHlwIjoiSldUIiwibGFyZGVyIjoic2VjcmV0In0".utf8)
    /// Replaces any secret in a canonical request.
    package static let canonical = Array("{secret}".utf8)
}

/// Replaces secrets in URLs shown to users, such as in a summary.
package struct SecretMask: Sendable {
    private let finders: [SecretFinder]

    /// Finds only secrets that Larder recognizes by itself.
    package init() { finders = [.undeclared] }

    /// - Parameter secrets: declared secrets, which are replaced too. Their declarations of harmless names are ignored: such a name
    ///   still indicates a secret here.
    /// - Throws: `malformed` for an invalid pattern, `tooLarge` for too many patterns.
    package init(_ secrets: [DeclaredSecrets]) throws(SecretScanningError) {
        var finders = [SecretFinder.undeclared]
        for secrets in secrets where secrets != DeclaredSecrets() { finders.append(try SecretFinder(secrets)) }
        self.finders = finders
    }

    /// The URL with `{secret}` in place of each secret.
    package func masked(url: String) -> String {
        let bytes = Array(url.utf8)
        let found = finders.reduce([]) { $0.merged(with: $1.secrets(inURI: bytes)) }
        return String(decoding: bytes.replacing(found) { _, _ in SecretMark.canonical }, as: UTF8.self)
    }
}

/// The form of a secret, and of its placeholder.
package enum SecretKind: String, Sendable, CaseIterable {
    /// Three parts in base64url, the first of which begins a JSON object (RFC 7519).
    case webToken = "jwt"
    /// The id of an AWS access key.
    case awsKeyID = "aws_key_id"
    case gitHubToken = "github_token"
    case slackToken = "slack_token"
    /// A token of another service, recognized by its prefix (`TokenForm`).
    case prefixedToken = "token"
    /// The text of a private key (RFC 7468).
    case privateKey = "private_key"
    /// User and password in base64 (RFC 7617).
    case basic
    /// Any other value in a place for secrets.
    case opaque
}
