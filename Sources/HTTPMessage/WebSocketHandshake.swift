/// The opening handshake of WebSocket in HTTP/1.1 (RFC 6455 §4).
package enum WebSocketHandshake {
    private static let suffix = Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)

    /// The value of `Sec-WebSocket-Accept` that confirms a `Sec-WebSocket-Key` (RFC 6455 §4.2.2).
    package static func accept(_ key: Span<UInt8>) -> [UInt8] {
        var input: [UInt8] = []
        input.append(key)
        return Array(Base64.encode(sha1(input + suffix)).utf8)
    }

    /// SHA-1 (FIPS 180-4 §6.1). The handshake proves only that the server understands WebSocket, so that a broken digest does no harm.
    private static func sha1(_ input: [UInt8]) -> [UInt8] {
        var message = input + [0x80]
        while message.count % 64 != 56 { message.append(0) }
        message += bigEndian(UInt64(input.count) * 8)
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        for start in stride(from: 0, to: message.count, by: 64) { digest(message[start..<start + 64], into: &state) }
        return state.flatMap { bigEndian($0) }
    }

    private static func digest(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        var words = (0..<16).map { index in
            block[(block.startIndex + index * 4)...].prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<80 {
            words.append(rotated(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], by: 1))
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for (index, word) in words.enumerated() {
            let (mixed, constant): (UInt32, UInt32) =
                switch index {
                case ..<20: (b & c | ~b & d, 0x5A82_7999)
                case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = rotated(a, by: 5) &+ mixed &+ e &+ constant &+ word
            (a, b, c, d, e) = (next, a, rotated(b, by: 30), c, d)
        }
        for (index, value) in [a, b, c, d, e].enumerated() { state[index] &+= value }
    }

    private static func rotated(_ word: UInt32, by count: UInt32) -> UInt32 { word << count | word >> (32 - count) }

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
