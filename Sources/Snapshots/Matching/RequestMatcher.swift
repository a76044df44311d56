import HTTPMessage
import SecretScanning
import ServerTrust

/// Computes the identities of requests under a snapshot's match terms. Compiles the patterns once.
package struct RequestMatcher: Sendable {
    package let terms: MatchTerms
    /// Finds the secrets of requests and responses under the match terms.
    let finder: SecretFinder
    private let rules: [CanonicalRule]

    /// - Throws: `malformed` for an invalid pattern.
    package init(_ terms: MatchTerms) throws(SnapshotError) {
        self.terms = terms
        finder = try onSecretScanning { () throws(SecretScanningError) in try SecretFinder(terms.secrets) }
        var rules: [CanonicalRule] = []
        for canonicaliser in terms.canonicalisers { rules.append(try CanonicalRule(canonicaliser)) }
        self.rules = rules
    }

    /// The match rules that apply to a request, in order.
    func rules(for request: RequestToMatch) -> [CanonicalRule] {
        rules.isEmpty ? [] : rules.filter { $0.concerns(method: request.method, uri: request.uri) }
    }

    /// The identity under which a recording of this request is found.
    /// - Parameter key: the project key; required if the request has a secret that is not a placeholder.
    /// - Returns: `nil` if the project key is required and `key` is `nil`.
    package func identity(of request: RequestToMatch, response: Fields?, under key: ProjectKey?) -> RequestIdentity? {
        let canonical = CanonicalRequest(request, self)
        guard let secrets = canonical.secretsDigest(under: key) else { return nil }
        return RequestIdentity(primary: canonical.primary, key: canonical.key(nominatedBy: response), secrets: secrets)
    }
}
