package import HTTPMessage

/// The name of an entry in the engine: an HMAC, which does not reveal the URL without the farm key.
package struct EntryName: Hashable, Sendable {
    /// 32 bytes.
    package let octets: [UInt8]

    /// 64 hexadecimal digits.
    package var text: String { Hexadecimal.encode(octets) }

    init(_ digest: SHA256Words) { octets = digest.octets }
}

/// Computes the names. One thread at a time may use it.
package final class EntryNames {
    private let keys: FarmKeys
    private let context = SHA256Context()

    package init(_ keys: FarmKeys) { self.keys = keys }

    /// The name of a cache key now.
    package func name(of key: [UInt8], at now: Timestamp) -> EntryName { name(of: key, under: keys.current(at: now)) }

    /// The name of a cache key under the former farm key, for the time after a rotation; `nil` if there is none.
    package func formerName(of key: [UInt8], at now: Timestamp) -> EntryName? {
        keys.former(at: now).map { name(of: key, under: $0) }
    }

    /// The names of a cache key under all farm keys: an invalidation removes all of them.
    package func allNames(of key: [UInt8]) -> [EntryName] { keys.keys.map { name(of: key, under: $0) } }

    /// Distinguishes the variants of a cache key, under its name.
    /// - Parameter nominated: the response's `nominatedFields`.
    package func variant(_ nominated: [UInt8], at now: Timestamp) -> EntryName {
        EntryName(keys.current(at: now).names.digest(.variantName, nominated.span, by: context))
    }

    /// The name of a certificate chain.
    /// - Parameter digest: `RecordedChain.digest`.
    package func chain(_ digest: [UInt8], at now: Timestamp) -> EntryName {
        EntryName(keys.current(at: now).names.digest(.chainName, digest.span, by: context))
    }

    private func name(of key: [UInt8], under farmKey: FarmKey) -> EntryName {
        EntryName(farmKey.names.digest(.entryName, key.span, by: context))
    }
}
