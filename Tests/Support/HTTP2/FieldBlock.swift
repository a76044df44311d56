/// Field blocks of literals without indexing or Huffman coding (RFC 7541 §6.2.2).
package enum FieldBlock {
    package static let get = [(":method", "GET"), (":scheme", "https"), (":authority", "a.example"), (":path", "/")]
    package static let post = [(":method", "POST"), (":scheme", "https"), (":authority", "a.example"), (":path", "/")]
    package static let connect = [(":method", "CONNECT"), (":authority", "a.example:443")]
    package static let ok = [(":status", "200")]

    package static func literal(_ fields: [(String, String)], first: UInt8 = 0) -> [UInt8] {
        fields.flatMap { [first] + text(Array($0.utf8)) + text(Array($1.utf8)) }
    }

    package static func text(_ bytes: [UInt8]) -> [UInt8] {
        // RFC 7541 §5.1, with a prefix of 7 bits.
        var length: [UInt8] = []
        if bytes.count < 127 {
            length = [UInt8(bytes.count)]
        } else {
            length = [127]
            var rest = bytes.count - 127
            while rest >= 128 {
                length.append(UInt8(rest % 128 + 128))
                rest /= 128
            }
            length.append(UInt8(rest))
        }
        return length + bytes
    }

    /// A field whose name and value are any bytes.
    package static func raw(_ name: [UInt8], _ value: [UInt8]) -> [UInt8] { [0] + text(name) + text(value) }
}
