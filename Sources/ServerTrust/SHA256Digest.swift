internal import COpenSSL
internal import HTTPMessage

/// A SHA-256 digest, written as pins write it.
public struct SHA256Digest: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Bytes of a digest.
    public static let count = 32

    private let words: InlineArray<4, UInt64>

    /// Inlined, since it is made once for each row of a snapshot, and a collection of whichever type costs a hundred times what an array does.
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

    /// The digest of what is given.
    init(of bytes: UnsafeBufferPointer<UInt8>) {
        let digest = [UInt8](unsafeUninitializedCapacity: Self.count) { output, count in
            // It has no failure but a lack of memory, and then it leaves its output alone: no digest at all is made of that.
            precondition(SHA256(bytes.baseAddress, bytes.count, output.baseAddress) != nil, "SHA-256 is not to be had")
            count = Self.count
        }
        // 32 bytes stand there.
        self.init(digest)!
    }

    package init(of bytes: [UInt8]) {
        self = bytes.withUnsafeBufferPointer { Self(of: $0) }
    }

    /// So many as `count`.
    public var octets: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.count) { octets, count in
            for index in 0..<Self.count {
                octets[index] = UInt8(truncatingIfNeeded: words[index / 8] >> UInt64(56 - index % 8 * 8))
            }
            count = Self.count
        }
    }

    /// `sha256/` and the digest in base64, as OkHttp and HTTP public key pinning in JSON write it.
    public var description: String { "sha256/" + base64 }

    /// The digest in base64, as it stands in `pin-sha256="…"` (RFC 7469 §2.1.1).
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
