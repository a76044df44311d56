/// A frame as bytes, for tests (RFC 9113 §4.1). Nothing is checked, so that it can be wrong in any way.
struct Frame: Equatable {
    var type: UInt8
    var flags: UInt8 = 0
    var stream: UInt32 = 0
    var payload: [UInt8] = []
    /// The length in the header, if it is not that of the payload.
    var length: Int?

    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    var bytes: [UInt8] {
        let length = length ?? payload.count
        return [UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags] + Self.bytes(stream)
            + payload
    }

    static func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    /// All complete frames of these bytes.
    static func all(in bytes: [UInt8]) -> [Frame] {
        var frames: [Frame] = []
        var start = 0
        while start + 9 <= bytes.count {
            let length = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
            guard start + 9 + length <= bytes.count else { break }
            frames.append(
                Frame(
                    type: bytes[start + 3], flags: bytes[start + 4], stream: number(bytes[(start + 5)...]),
                    payload: Array(bytes[(start + 9)..<(start + 9 + length)])))
            start += 9 + length
        }
        return frames
    }

    static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
}

extension Frame {
    static let endStream: UInt8 = 0x1
    static let acknowledgement: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4
    static let padded: UInt8 = 0x8
    static let priority: UInt8 = 0x20

    static func data(_ stream: UInt32, _ text: String = "", flags: UInt8 = 0) -> Frame {
        Frame(type: 0, flags: flags, stream: stream, payload: Array(text.utf8))
    }

    static func data(_ stream: UInt32, count: Int, flags: UInt8 = 0) -> Frame {
        Frame(type: 0, flags: flags, stream: stream, payload: Array(repeating: UInt8(ascii: "d"), count: count))
    }

    /// A whole field section.
    static func headers(_ stream: UInt32, _ fields: [(String, String)], end: Bool = true, flags: UInt8 = 0) -> Frame {
        headers(stream, block: FieldBlock.literal(fields), flags: flags | endHeaders | (end ? endStream : 0))
    }

    static func headers(_ stream: UInt32, block: [UInt8], flags: UInt8) -> Frame {
        Frame(type: 1, flags: flags, stream: stream, payload: block)
    }

    static func priority(_ stream: UInt32, on parent: UInt32 = 0) -> Frame {
        Frame(type: 2, stream: stream, payload: bytes(parent) + [16])
    }

    static func reset(_ stream: UInt32, _ code: UInt32 = 8) -> Frame { Frame(type: 3, stream: stream, payload: bytes(code)) }

    static func settings(_ entries: [(id: UInt16, value: UInt32)] = [], flags: UInt8 = 0) -> Frame {
        Frame(type: 4, flags: flags, payload: entries.flatMap { [UInt8($0.id >> 8), UInt8($0.id & 255)] + bytes($0.value) })
    }

    static let settingsAcknowledgement = settings(flags: acknowledgement)

    static func pushPromise(_ stream: UInt32, promised: UInt32) -> Frame {
        Frame(type: 5, flags: endHeaders, stream: stream, payload: bytes(promised) + FieldBlock.literal(FieldBlock.get))
    }

    static func ping(_ text: String = "12345678", flags: UInt8 = 0) -> Frame {
        Frame(type: 6, flags: flags, payload: Array(text.utf8))
    }

    static func goAway(last: UInt32 = 0, _ code: UInt32 = 0) -> Frame { Frame(type: 7, payload: bytes(last) + bytes(code)) }

    static func windowUpdate(_ stream: UInt32, _ increment: UInt32) -> Frame {
        Frame(type: 8, stream: stream, payload: bytes(increment))
    }

    static func continuation(_ stream: UInt32, block: [UInt8] = [], flags: UInt8 = 0) -> Frame {
        Frame(type: 9, flags: flags, stream: stream, payload: block)
    }

    static func priorityUpdate(_ stream: UInt32, _ value: String) -> Frame {
        Frame(type: 0x10, payload: bytes(stream) + Array(value.utf8))
    }
}

/// Field blocks of literals without indexing or Huffman coding (RFC 7541 §6.2.2).
enum FieldBlock {
    static let get = [(":method", "GET"), (":scheme", "https"), (":authority", "a.example"), (":path", "/")]
    static let post = [(":method", "POST"), (":scheme", "https"), (":authority", "a.example"), (":path", "/")]
    static let connect = [(":method", "CONNECT"), (":authority", "a.example:443")]
    static let ok = [(":status", "200")]

    static func literal(_ fields: [(String, String)], first: UInt8 = 0) -> [UInt8] {
        fields.flatMap { [first] + text(Array($0.utf8)) + text(Array($1.utf8)) }
    }

    static func text(_ bytes: [UInt8]) -> [UInt8] {
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
    static func raw(_ name: [UInt8], _ value: [UInt8]) -> [UInt8] { [0] + text(name) + text(value) }
}
