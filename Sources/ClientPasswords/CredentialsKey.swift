internal import CLarderOpenSSL

/// Credentials in the form that is remembered: a digest that reveals nothing without its key.
package struct CredentialsDigest: Hashable, Sendable {
    fileprivate let words: SIMD4<UInt64>

    var number: UInt64 { words[0] }
}

/// A random key, generated once and never disclosed.
struct CredentialsKey: Sendable {
    private static let count = 32

    private let octets: [UInt8]

    init() {
        octets = [UInt8](unsafeUninitializedCapacity: Self.count) { octets, count in
            precondition(RAND_bytes(octets.baseAddress, Int32(Self.count)) == 1, "the system provides no random numbers")
            count = Self.count
        }
    }

    /// HMAC with SHA-256 (RFC 2104).
    func digest(of message: [UInt8]) -> CredentialsDigest {
        var words = SIMD4<UInt64>()
        withUnsafeMutableBytes(of: &words) { words in
            let output = words.assumingMemoryBound(to: UInt8.self).baseAddress
            let made = HMAC(EVP_sha256(), octets, Int32(Self.count), message, message.count, output, nil)
            precondition(made != nil, "HMAC is not to be had")
        }
        return CredentialsDigest(words: words)
    }
}
