internal import CLarderOpenSSL

/// Computes SHA-256 digests, one after the other. OpenSSL's functions for a single digest search for the algorithm with each call, which
/// takes longer than the digest of a node.
///
/// One thread at a time may use it.
final class SHA256Context {
    static let count = 32
    private let context: OpaquePointer

    init() {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            preconditionFailure("SHA-256 is not to be had")
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    /// The digest of the bytes of all parts, in order.
    func digest(_ first: Span<UInt8>, _ second: Span<UInt8> = Span(), _ third: Span<UInt8> = Span()) -> SHA256Words {
        // Without an algorithm, the context keeps the one that it has.
        var isGood = EVP_DigestInit_ex(context, nil, nil) == 1
        isGood = update(first) && update(second) && update(third) && isGood
        var words = SHA256Words.zero
        withUnsafeMutableBytes(of: &words.words) { output in
            isGood = EVP_DigestFinal_ex(context, output.baseAddress?.assumingMemoryBound(to: UInt8.self), nil) == 1 && isGood
        }
        // OpenSSL fails only without memory. What is in the output then must not be taken for a digest.
        precondition(isGood, "SHA-256 is not to be had")
        return words
    }

    private func update(_ part: Span<UInt8>) -> Bool {
        part.withUnsafeBufferPointer { $0.isEmpty || EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1 }
    }
}

/// The 32 bytes of a digest, in the order of the digest. A trivial type.
struct SHA256Words: Hashable, Sendable {
    fileprivate(set) var words: SIMD4<UInt64>

    static let zero = SHA256Words(words: SIMD4())

    private init(words: SIMD4<UInt64>) { self.words = words }

    /// - Parameter bytes: 32 bytes.
    init(_ bytes: Span<UInt8>) {
        precondition(bytes.count == SHA256Context.count)
        words = bytes.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
    }

    var octets: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }

    func withBytes<Result>(_ work: (Span<UInt8>) -> Result) -> Result {
        withUnsafeBytes(of: words) { work(Span(_unsafeBytes: $0)) }
    }
}
