/// The slot of a key in a cluster: CRC16 (XMODEM) of the key, or of its hash tag.
package enum HashSlot {
    package static let count: UInt16 = 16_384

    /// If the key has `{`, and `}` later with bytes between, only the bytes between the first `{` and the next `}` count.
    package static func of(_ key: [UInt8]) -> UInt16 {
        if let open = key.firstIndex(of: UInt8(ascii: "{")),
            let close = key[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
        {
            return crc16(key[open + 1..<close]) % count
        }
        return crc16(key[...]) % count
    }

    static func crc16(_ octets: ArraySlice<UInt8>) -> UInt16 {
        var crc: UInt16 = 0
        for octet in octets { crc = crc << 8 ^ table[Int(UInt8(truncatingIfNeeded: crc >> 8) ^ octet)] }
        return crc
    }

    private static let table: [UInt16] = (0..<256).map { index in
        var crc = UInt16(index) << 8
        for _ in 0..<8 { crc = crc & 0x8000 != 0 ? crc << 1 ^ 0x1021 : crc << 1 }
        return crc
    }
}
