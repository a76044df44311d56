import HTTPMessage

/// How rules change the cache key. Parameters that are left out of the key still go to the origin server.
package struct KeyRewriting: Sendable {
    /// A query parameter name in rules: `utm_source` matches that name, `utm_*` every name that starts with `utm_`.
    package struct ParameterPattern: Equatable, Sendable {
        package let name: [UInt8]
        package let isPrefix: Bool

        /// - Returns: `nil` if the text is empty, has a star that is not at the end, or has characters that a parameter name cannot
        ///   have.
        package init?(_ text: String) {
            let bytes = Array(text.utf8)
            isPrefix = bytes.last == UInt8(ascii: "*")
            name = isPrefix ? bytes.dropLast() : bytes
            let isReadable = name.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"&=#*".utf8.contains($0) }
            guard !bytes.isEmpty, isReadable else { return nil }
        }
    }

    /// A method whose content is part of the key (RFC 9111 §2: the key may contain more than the URI).
    package struct Methods: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let query = Methods(rawValue: 1 << 0)
        /// Includes the content of a POST in the key. If a stored response then satisfies a POST, Larder does not forward the POST to
        /// the origin server, although RFC 9111 §4 requires it. Only an unsafe rule sets this.
        package static let post = Methods(rawValue: 1 << 1)
    }

    /// Parameters left out of the key; `nil` means none.
    package var dropped: [ParameterPattern]?
    /// The only parameters kept in the key; `nil` means all.
    package var kept: [ParameterPattern]?
    package var sortsQuery: Bool?
    /// Replaces the request's host in the key; in lower case.
    package var canonicalHost: [UInt8]?
    /// Request fields whose values select a variant, as if each response listed them in Vary.
    package var fields: SecondaryKey?
    package var bodyMethods: Methods?

    package init() {}

    /// Whether the resulting key may equal the key of another URI.
    package var changesURI: Bool { dropped != nil || kept != nil || sortsQuery == true || canonicalHost != nil }

    /// Applies the options that `later` sets; the others stay unchanged.
    package mutating func merge(_ later: KeyRewriting) {
        dropped = later.dropped ?? dropped
        kept = later.kept ?? kept
        sortsQuery = later.sortsQuery ?? sortsQuery
        canonicalHost = later.canonicalHost ?? canonicalHost
        fields = later.fields ?? fields
        bodyMethods = later.bodyMethods ?? bodyMethods
    }
}
