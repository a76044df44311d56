internal import CLarderOpenSSL

/// HMAC with SHA-256 (RFC 2104) under one key of 32 bytes.
struct KeyedHash: Sendable {
    private let inner: [UInt8]
    private let outer: [UInt8]

    init(key: [UInt8]) {
        precondition(key.count == 32)
        let block = key + [UInt8](repeating: 0, count: 32)
        inner = block.map { $0 ^ 0x36 }
        outer = block.map { $0 ^ 0x5C }
    }

    /// The HMAC of a purpose and a message. The purpose is one byte, so that messages of two purposes are never equal.
    func digest(_ purpose: Purpose, _ message: Span<UInt8>, by context: SHA256Context) -> SHA256Words {
        let purpose: InlineArray<1, UInt8> = [purpose.rawValue]
        let digest = context.digest(inner.span, purpose.span, message)
        return digest.withBytes { context.digest(outer.span, $0) }
    }

    enum Purpose: UInt8 {
        // Keys that are derived from a farm key.
        case keyIdentifier = 1, names, sealing
        // Names.
        case entryName, variantName, chainName
        // Salts and keys that are derived from the key for sealing.
        case salt, headKey, pieceKey, chainKey, recordKey
    }
}

enum RandomBytes {
    static func make(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
            precondition(RAND_bytes(bytes.baseAddress, Int32(count)) == 1, "the system provides no random numbers")
            initialized = count
        }
    }
}
