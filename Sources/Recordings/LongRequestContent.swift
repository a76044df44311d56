import HTTPSerialization
import ServerTrust
import Snapshots

/// Request content that is too long to be kept in memory: only its digest is computed. Confined to its loop.
package final class LongRequestContent {
    private let hasher = DigestHasher(.sha256)
    private var digest: SHA256Digest?

    /// - Parameter begun: the bytes that were kept so far.
    package init(_ begun: [UInt8]) { hasher.update(begun.span) }

    package func append(_ octets: RawSpan) {
        octets.withUnsafeBytes { hasher.update($0.bindMemory(to: UInt8.self).span) }
    }

    /// The content's digest and length. Call it when the content is complete.
    package func body(length: UInt64) -> RequestToMatch.Body? {
        if digest == nil { digest = SHA256Digest(hasher.finish().octets) }
        return digest.map { .digest($0, length: length) }
    }
}
