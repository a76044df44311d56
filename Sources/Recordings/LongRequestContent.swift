import HTTPSerialization
import ServerTrust
import Snapshots

/// The content of a request that is too long to be held: only its digest is kept. Confined to its loop.
package final class LongRequestContent {
    private let hasher = DigestHasher(.sha256)
    private var digest: SHA256Digest?

    /// - Parameter begun: the bytes held so far.
    package init(_ begun: [UInt8]) { hasher.update(begun.span) }

    package func append(_ octets: RawSpan) {
        octets.withUnsafeBytes { hasher.update($0.bindMemory(to: UInt8.self).span) }
    }

    /// Its digest and length. To be called when it is complete.
    package func body(length: UInt64) -> RequestToMatch.Body? {
        if digest == nil { digest = SHA256Digest(hasher.finish().octets) }
        return digest.map { .digest($0, length: length) }
    }
}
