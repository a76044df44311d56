/// A frame as bytes, for tests (RFC 9113 §4.1). Nothing is checked, so that it can be wrong in any way.
package struct Frame: Equatable, Sendable {
    package var type: UInt8
    package var flags: UInt8 = 0
    package var stream: UInt32 = 0
    package var payload: [UInt8] = []
    /// The length in the header, if it is not that of the payload.
    package var length: Int?

    package init(type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, payload: [UInt8] = [], length: Int? = nil) {
        self.type = type
        self.flags = flags
        self.stream = stream
        self.payload = payload
        self.length = length
    }

    package static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    package var bytes: [UInt8] {
        let length = length ?? payload.count
        return [UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags] + Self.bytes(stream)
            + payload
    }

    package static func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    /// All complete frames of these bytes.
    package static func all(in bytes: [UInt8]) -> [Frame] {
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

    /// Removes the first frame from the bytes; `nil` if it has not arrived whole.
    package static func takeFirst(of bytes: inout [UInt8]) -> Frame? {
        guard bytes.count >= 9 else { return nil }
        let end = 9 + (Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2]))
        guard bytes.count >= end else { return nil }
        defer { bytes.removeFirst(end) }
        return Frame(type: bytes[3], flags: bytes[4], stream: number(bytes[5...]), payload: Array(bytes[9..<end]))
    }

    package static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
}

extension Frame {
    package static let endStream: UInt8 = 0x1
    package static let acknowledgement: UInt8 = 0x1
    package static let endHeaders: UInt8 = 0x4
    package static let padded: UInt8 = 0x8
    package static let priority: UInt8 = 0x20

    package static func data(_ stream: UInt32, _ text: String = "", flags: UInt8 = 0) -> Frame {
        Frame(type: 0, flags: flags, stream: stream, payload: Array(text.utf8))
    }

    package static func data(_ stream: UInt32, count: Int, flags: UInt8 = 0) -> Frame {
        Frame(type: 0, flags: flags, stream: stream, payload: Array(repeating: UInt8(ascii: "d"), count: count))
    }

    /// A whole field section.
    package static func headers(_ stream: UInt32, _ fields: [(String, String)], end: Bool = true, flags: UInt8 = 0) -> Frame {
        headers(stream, block: FieldBlock.literal(fields), flags: flags | endHeaders | (end ? endStream : 0))
    }

    package static func headers(_ stream: UInt32, block: [UInt8], flags: UInt8) -> Frame {
        Frame(type: 1, flags: flags, stream: stream, payload: block)
    }

    package static func priority(_ stream: UInt32, on parent: UInt32 = 0) -> Frame {
        Frame(type: 2, stream: stream, payload: bytes(parent) + [16])
    }

    package static func reset(_ stream: UInt32, _ code: UInt32 = 8) -> Frame {
        Frame(type: 3, stream: stream, payload: bytes(code))
    }

    package static func settings(_ entries: [(id: UInt16, value: UInt32)] = [], flags: UInt8 = 0) -> Frame {
        Frame(type: 4, flags: flags, payload: entries.flatMap { [UInt8($0.id >> 8), UInt8($0.id & 255)] + bytes($0.value) })
    }

    package static let settingsAcknowledgement = settings(flags: acknowledgement)

    package static func pushPromise(_ stream: UInt32, promised: UInt32) -> Frame {
        Frame(type: 5, flags: endHeaders, stream: stream, payload: bytes(promised) + FieldBlock.literal(FieldBlock.get))
    }

    package static func ping(_ text: String = "12345678", flags: UInt8 = 0) -> Frame {
        Frame(type: 6, flags: flags, payload: Array(text.utf8))
    }

    package static func goAway(last: UInt32 = 0, _ code: UInt32 = 0) -> Frame {
        Frame(type: 7, payload: bytes(last) + bytes(code))
    }

    package static func windowUpdate(_ stream: UInt32, _ increment: UInt32) -> Frame {
        Frame(type: 8, stream: stream, payload: bytes(increment))
    }

    package static func continuation(_ stream: UInt32, block: [UInt8] = [], flags: UInt8 = 0) -> Frame {
        Frame(type: 9, flags: flags, stream: stream, payload: block)
    }

    package static func priorityUpdate(_ stream: UInt32, _ value: String) -> Frame {
        Frame(type: 0x10, payload: bytes(stream) + Array(value.utf8))
    }
}
