import HTTPMessage
import SecretScanning
import ServerTrust

/// Says what requests come to under a snapshot's terms. Its patterns are read once.
package struct RequestMatcher: Sendable {
    package let terms: MatchTerms
    /// Finds the secrets of requests and responses under these terms.
    let finder: SecretFinder
    private let rules: [CanonicalRule]

    /// - Throws: `malformed` for a pattern that cannot be read.
    package init(_ terms: MatchTerms) throws(SnapshotError) {
        self.terms = terms
        finder = try onSecretScanning { () throws(SecretScanningError) in try SecretFinder(terms.secrets) }
        var rules: [CanonicalRule] = []
        for canonicaliser in terms.canonicalisers { rules.append(try CanonicalRule(canonicaliser)) }
        self.rules = rules
    }

    /// Those that speak of a request, in order.
    func rules(for request: RequestToMatch) -> [CanonicalRule] {
        rules.isEmpty ? [] : rules.filter { $0.concerns(method: request.method, uri: request.uri) }
    }

    /// By what a recording of this request is found.
    /// - Parameter key: the project's; a request with a secret that is no placeholder yet has an identity only under one.
    /// - Returns: `nil` without one.
    package func identity(of request: RequestToMatch, response: Fields?, under key: ProjectKey?) -> RequestIdentity? {
        let canonical = CanonicalRequest(request, self)
        guard let secrets = canonical.secretsDigest(under: key) else { return nil }
        return RequestIdentity(primary: canonical.primary, key: canonical.key(nominatedBy: response), secrets: secrets)
    }
}
