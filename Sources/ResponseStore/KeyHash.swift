import CLarderXXHash

/// A 128-bit hash of a key. It uses a secret, so that clients cannot choose keys that collide.
struct KeyHash: Hashable, Sendable {
    /// The half of the hash that selects the shard and the position in it.
    let low: UInt64
    /// The half of the hash that represents the key in the set of stored keys.
    let high: UInt64

    /// Calls `body` with the 16 bytes of the hash, as they are in the store's file.
    func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        let bytes = bytes
        return body(bytes.span)
    }

    var bytes: InlineArray<16, UInt8> {
        InlineArray { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> UInt64(56 - ($0 & 7) * 8)) }
    }

    init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    /// - Returns: `nil` unless there are 16 bytes.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for index in 0..<8 {
            high = high << 8 | UInt64(bytes[index])
            low = low << 8 | UInt64(bytes[index + 8])
        }
        self.init(low: low, high: high)
    }
}

/// Computes key hashes with one store's secret.
struct KeyHasher: Sendable {
    static let secretLength = 192

    let secret: [UInt8]

    init(secret: [UInt8]) {
        precondition(secret.count == KeyHasher.secretLength, "the secret is too short for XXH3")
        self.secret = secret
    }

    func hash(_ key: Span<UInt8>) -> KeyHash {
        let hash = key.withUnsafeBytes { key in
            secret.withUnsafeBytes { cxxhash_128(key.baseAddress, key.count, $0.baseAddress, $0.count) }
        }
        return KeyHash(low: hash.low, high: hash.high)
    }

    func hash(_ key: [UInt8]) -> KeyHash { hash(key.span) }

    /// Identifies a variant of a key: 0 if no field is nominated (RFC 9111 §4.1).
    func variant(ofNominated fields: [UInt8]) -> Int64 {
        fields.isEmpty ? 0 : Int64(bitPattern: hash(fields.span).low)
    }

    /// The hash of scheme, host and port, the part of a key before the path.
    func origin(ofKey key: [UInt8]) -> Int64 {
        var slashes = 0
        var end = key.count
        for index in 0..<key.count where key[index] == 0x2F {
            slashes += 1
            if slashes == 3 {
                end = index
                break
            }
        }
        return Int64(bitPattern: hash(key.span.extracting(0..<end)).low)
    }
}
