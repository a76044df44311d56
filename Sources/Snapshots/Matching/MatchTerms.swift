import HTTPSerialization
import SecretScanning

/// The terms by which requests are matched. They are stored in the snapshot, so that replay uses the same terms as recording.
package struct MatchTerms: Equatable, Sendable {
    /// The canonicalisers, in the order in which they are applied.
    package var canonicalisers: [Canonicaliser]
    /// Request fields whose values distinguish recordings, in addition to the fields that a response's Vary nominates; in lower case.
    package var fields: [String]
    /// Whether Accept-Encoding distinguishes recordings whose Vary nominates it. If not, replay removes content codings that a client
    /// does not accept.
    package var isExact: Bool
    /// Secrets in addition to those that Larder recognizes by itself.
    package var secrets: DeclaredSecrets

    package init(
        canonicalisers: [Canonicaliser] = [], fields: [String] = [], isExact: Bool = false,
        secrets: DeclaredSecrets = DeclaredSecrets()
    ) {
        self.canonicalisers = canonicalisers
        self.fields = fields
        self.isExact = isExact
        self.secrets = secrets
    }

    /// The maximum number of canonicalisers.
    package static let canonicaliserLimit = 256
    /// The maximum number of pattern replacements in all canonicalisers together. Each replacement may take up to a third of a second.
    package static let replacementLimit = 32
}

/// The parts of a request that do not affect its response.
package struct Canonicaliser: Equatable, Sendable {
    /// The URI pattern that selects the requests to which the canonicaliser applies, in the spelling of `CacheKey`. A star matches any
    /// bytes.
    package var uri: String
    /// The method of the requests to which the canonicaliser applies; `nil` for all methods.
    package var method: String?
    /// Query parameters to ignore: a name, or a prefix followed by a star.
    package var ignoredParameters: [String] = []
    /// Whether the order of query parameters is ignored.
    package var sortsQuery = false
    /// Request fields to treat as absent, in lower case, even if Vary or `match.fields` names them.
    package var ignoredFields: [String] = []
    /// Form fields in the body to ignore, with the same syntax as query parameters.
    package var ignoredFormFields: [String] = []
    /// The places in a JSON body whose values are ignored.
    package var ignoredPointers: [JSONPointer] = []
    package var replacements: [Replacement] = []
    /// Whether all UUIDs are treated as equal.
    package var hasUUIDs = false
    /// Whether all times are treated as equal. A time is a date in the form of RFC 3339 or an HTTP-date, or a number of seconds or
    /// milliseconds since 1970 that is in the years 2000 to 2099.
    package var hasTimes = false

    package init(uri: String = "*") { self.uri = uri }

    /// Replaces the matches of a regular expression before requests are compared.
    package struct Replacement: Equatable, Sendable {
        package enum Place: String, Sendable, CaseIterable {
            case uri, body
        }

        package var place: Place
        /// A regular expression in the syntax of `LinearPattern`.
        package var pattern: String
        package var text: String

        package init(_ place: Place, _ pattern: String, by text: String) {
            self.place = place
            self.pattern = pattern
            self.text = text
        }
    }
}

extension SecretMask {
    /// - Parameter terms: terms whose declared secrets are replaced too. Names that these terms declare as harmless still indicate a
    ///   secret here.
    /// - Throws: `malformed` for an invalid pattern, `tooLarge` for too many patterns.
    package init(_ terms: [MatchTerms]) throws(SnapshotError) {
        self = try onSecretScanning { () throws(SecretScanningError) in try SecretMask(terms.map(\.secrets)) }
    }
}
