internal import CLarderOpenSSL
internal import HTTPMessage

/// A SHA-256 digest; its description has the form of a pin.
public struct SHA256Digest: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The length of a digest in bytes.
    public static let count = 32

    private let words: InlineArray<4, UInt64>

    /// Inlined, since it runs for each row of a snapshot, and without specialization a generic collection costs a hundred times
    /// as much as an array.
    /// - Returns: `nil` unless there are 32 bytes.
    @inlinable
    public init?(_ octets: some Collection<UInt8>) {
        guard octets.count == Self.count else { return nil }
        var words = InlineArray<4, UInt64>(repeating: 0)
        for (index, octet) in octets.enumerated() { words[index / 8] = words[index / 8] << 8 | UInt64(octet) }
        self.init(words)
    }

    @usableFromInline
    init(_ words: InlineArray<4, UInt64>) { self.words = words }

    /// The digest of these bytes.
    init(of bytes: UnsafeBufferPointer<UInt8>) {
        let digest = [UInt8](unsafeUninitializedCapacity: Self.count) { output, count in
            // SHA256 fails only without memory, and then leaves its output unchanged, which must not be treated as a digest.
            precondition(SHA256(bytes.baseAddress, bytes.count, output.baseAddress) != nil, "SHA-256 is not to be had")
            count = Self.count
        }
        // The array has 32 bytes.
        self.init(digest)!
    }

    package init(of bytes: [UInt8]) {
        self = bytes.withUnsafeBufferPointer { Self(of: $0) }
    }

    /// The bytes; their number is `count`.
    public var octets: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.count) { octets, count in
            for index in 0..<Self.count {
                octets[index] = UInt8(truncatingIfNeeded: words[index / 8] >> UInt64(56 - index % 8 * 8))
            }
            count = Self.count
        }
    }

    /// `sha256/` and the digest in base64, as in OkHttp and in JSON for HTTP public key pinning.
    public var description: String { "sha256/" + base64 }

    /// The digest in base64, as in `pin-sha256="…"` (RFC 7469 §2.1.1).
    public var base64: String { Base64.encode(octets) }

    public static func == (left: Self, right: Self) -> Bool {
        left.words[0] == right.words[0] && left.words[1] == right.words[1] && left.words[2] == right.words[2]
            && left.words[3] == right.words[3]
    }

    public static func < (left: Self, right: Self) -> Bool {
        for index in 0..<4 where left.words[index] != right.words[index] { return left.words[index] < right.words[index] }
        return false
    }

    public func hash(into hasher: inout Hasher) {
        for index in 0..<4 { hasher.combine(words[index]) }
    }
}
