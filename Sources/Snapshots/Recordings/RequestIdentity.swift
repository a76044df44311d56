import ServerTrust

/// The identity of a recording: digests of its request under the snapshot's canonicalisers.
///
/// A recording is a candidate for a request if both have the same `primary`. `key` also covers the fields that Vary nominates. Requests
/// with the same `key` get their responses from one sequence, unless the project key shows that their secrets differ.
package struct RequestIdentity: Hashable, Sendable {
    /// The first 16 bytes of a digest of the method, the URI, the body, the kinds of credentials and the fields of `match.fields`.
    package let primary: PrimaryKey
    /// A digest of the parts that `primary` covers, and of the fields that the response's Vary nominates.
    package let key: SHA256Digest
    /// A digest of the placeholders of the request's secrets, sorted; the digest of zero bytes if the request has no secrets.
    package let secrets: SHA256Digest

    package init(primary: PrimaryKey, key: SHA256Digest, secrets: SHA256Digest) {
        self.primary = primary
        self.key = key
        self.secrets = secrets
    }
}

/// A key of 128 bits, by which the recordings of a file are sorted and found.
package struct PrimaryKey: Hashable, Comparable, Sendable {
    package static let count = 16

    package let high: UInt64
    package let low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init(_ digest: SHA256Digest) { self.init(digest.octets[...])! /* a digest has at least 16 bytes */ }

    /// - Returns: `nil` for fewer than 16 bytes; bytes after the 16th are ignored.
    package init?(_ octets: ArraySlice<UInt8>) {
        guard octets.count >= Self.count else { return nil }
        func number(_ octets: ArraySlice<UInt8>) -> UInt64 { octets.reduce(0) { $0 << 8 | UInt64($1) } }
        high = number(octets.prefix(8))
        low = number(octets.dropFirst(8).prefix(8))
    }

    package static func < (left: PrimaryKey, right: PrimaryKey) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }
}
