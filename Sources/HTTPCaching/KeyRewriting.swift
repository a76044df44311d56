import HTTPMessage

/// How rules change the cache key. What is left out of the key still goes to the origin server.
package struct KeyRewriting: Sendable {
    /// The name of a query's parameter as rules write it: `utm_source` is that name alone, `utm_*` each that begins so.
    package struct ParameterPattern: Equatable, Sendable {
        package let name: [UInt8]
        package let isPrefix: Bool

        /// - Returns: `nil` for an empty text, a star that does not stand at the end, and what no query holds.
        package init?(_ text: String) {
            let bytes = Array(text.utf8)
            isPrefix = bytes.last == UInt8(ascii: "*")
            name = isPrefix ? bytes.dropLast() : bytes
            let isReadable = name.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"&=#*".utf8.contains($0) }
            guard !bytes.isEmpty, isReadable else { return nil }
        }
    }

    /// A method whose requests stand in the store by their content (RFC 9111 §2: the key may hold more than the URI).
    package struct Methods: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let query = Methods(rawValue: 1 << 0)
        /// Answered from the store it is no longer written through (RFC 9111 §4): only an unsafe rule says so.
        package static let post = Methods(rawValue: 1 << 1)
    }

    /// Parameters that are left out; `nil` is none.
    package var dropped: [ParameterPattern]?
    /// The only parameters that stay; `nil` is all.
    package var kept: [ParameterPattern]?
    package var sortsQuery: Bool?
    /// Stands in the key in place of the request's host, in lower case.
    package var canonicalHost: [UInt8]?
    /// Request fields whose values tell responses apart, as if each response named them in Vary.
    package var fields: SecondaryKey?
    package var bodyMethods: Methods?

    package init() {}

    /// Whether a key may come of it that is another URI's.
    package var changesURI: Bool { dropped != nil || kept != nil || sortsQuery == true || canonicalHost != nil }

    /// Takes over what `later` says, word by word.
    package mutating func merge(_ later: KeyRewriting) {
        dropped = later.dropped ?? dropped
        kept = later.kept ?? kept
        sortsQuery = later.sortsQuery ?? sortsQuery
        canonicalHost = later.canonicalHost ?? canonicalHost
        fields = later.fields ?? fields
        bodyMethods = later.bodyMethods ?? bodyMethods
    }
}
