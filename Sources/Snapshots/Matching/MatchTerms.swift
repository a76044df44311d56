import HTTPSerialization
import SecretScanning

/// By what requests are taken for equal, kept with the snapshot: what was recorded by one set of terms is found by the same.
package struct MatchTerms: Equatable, Sendable {
    /// In the order in which they are applied.
    package var canonicalisers: [Canonicaliser]
    /// Request fields whose values tell recordings apart, besides those that a response's Vary names; in lower case.
    package var fields: [String]
    /// Whether Accept-Encoding tells recordings apart where Vary names it. Otherwise codings are taken off when a client wants another.
    package var isExact: Bool
    /// What is a secret besides what Larder knows for one.
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

    /// More canonicalisers than these are refused.
    package static let canonicaliserLimit = 256
    /// More replacements by patterns than these, of all canonicalisers together, are refused: each may take a third of a second.
    package static let replacementLimit = 32
}

/// What of a request says nothing about the answer to it.
package struct Canonicaliser: Equatable, Sendable {
    /// Which requests are meant: an URI in the spelling of `CacheKey` with stars for any bytes.
    package var uri: String
    /// The only method that is meant; `nil` is any.
    package var method: String?
    /// Query parameters that are left out: a name, or the beginning of one with a star behind.
    package var ignoredParameters: [String] = []
    /// Whether the order of query parameters says nothing.
    package var sortsQuery = false
    /// Fields that are taken as absent, in lower case, also where Vary or `match.fields` names them.
    package var ignoredFields: [String] = []
    /// Fields of a form in the body that are left out, as query parameters are.
    package var ignoredFormFields: [String] = []
    /// Places of a JSON body that are left out.
    package var ignoredPointers: [JSONPointer] = []
    package var replacements: [Replacement] = []
    /// Whether any UUID is as good as another.
    package var hasUUIDs = false
    /// Whether any time is as good as another: RFC 3339, HTTP-date, and seconds or milliseconds since 1970 in our years.
    package var hasTimes = false

    package init(uri: String = "*") { self.uri = uri }

    /// What a regular expression finds is replaced before requests are compared.
    package struct Replacement: Equatable, Sendable {
        package enum Place: String, Sendable, CaseIterable {
            case uri, body
        }

        package var place: Place
        /// As `LinearPattern` reads it.
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
    /// - Parameter terms: what these declare as secrets is replaced too. Names that one of them declares as harmless indicate secrets here.
    /// - Throws: `malformed` for a pattern that cannot be read, `tooLarge` for too many.
    package init(_ terms: [MatchTerms]) throws(SnapshotError) {
        self = try onSecretScanning { () throws(SecretScanningError) in try SecretMask(terms.map(\.secrets)) }
    }
}
