internal import CLarderOpenSSL

/// Computes a digest over bytes that arrive in pieces, with OpenSSL. Confined to one thread at a time.
public final class DigestHasher {
    private let context: OpaquePointer
    private let algorithm: DigestAlgorithm

    /// Starts a digest.
    public init(_ algorithm: DigestAlgorithm) {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("OpenSSL has no memory") }
        self.context = context
        self.algorithm = algorithm
        begin()
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Adds these bytes to the digest.
    public func update(_ octets: Span<UInt8>) {
        octets.withUnsafeBytes { octets in
            let result = EVP_DigestUpdate(context, octets.baseAddress, octets.count)
            precondition(result == 1, "OpenSSL refuses to go on with a digest")
        }
    }

    /// The digest of all bytes added; then the hasher starts a new digest.
    public func finish() -> ContentDigest {
        let octets = [UInt8](unsafeUninitializedCapacity: algorithm.length) { buffer, initialized in
            var count: UInt32 = 0
            let result = EVP_DigestFinal_ex(context, buffer.baseAddress, &count)
            precondition(result == 1 && Int(count) == algorithm.length, "OpenSSL makes another digest than it was asked for")
            initialized = algorithm.length
        }
        begin()
        return ContentDigest(algorithm, made: octets)
    }

    private func begin() {
        let result = EVP_DigestInit_ex(context, algorithm == .sha256 ? EVP_sha256() : EVP_sha512(), nil)
        precondition(result == 1, "every OpenSSL knows SHA-2")
    }
}
