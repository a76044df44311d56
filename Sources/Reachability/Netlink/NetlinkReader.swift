/// The header of one netlink message.
struct NetlinkHead: Equatable {
    let type: UInt16
    let flags: UInt16
    let sequence: UInt32
    /// The port of the socket that requested the message, or that caused the reported change.
    let port: UInt32
}

/// Parses netlink data: messages, each with a header and a payload, and the attributes inside. Numbers are in native byte order.
///
/// All lengths are checked against the available bytes: inconsistent lengths are reported, and nothing is read past the end.
enum NetlinkReader {
    static let headLength = 16
    private static let attributeHeadLength = 4
    /// Messages and attributes begin at multiples of this number of bytes.
    private static let alignment = 4

    /// Calls `body` with each message, up to the first with an invalid length.
    /// - Returns: whether all lengths were valid.
    static func readMessages(_ octets: Span<UInt8>, _ body: (NetlinkHead, Span<UInt8>) -> Void) -> Bool {
        var start = 0
        while start < octets.count {
            guard octets.count - start >= headLength else { return false }
            let length = Int(octets.number32(at: start))
            guard length >= headLength, length <= octets.count - start else { return false }
            let head = NetlinkHead(
                type: octets.number16(at: start + 4), flags: octets.number16(at: start + 6),
                sequence: octets.number32(at: start + 8),
                port: octets.number32(at: start + 12))
            body(head, octets.extracting(start + headLength..<start + length))
            start += aligned(length)
        }
        return true
    }

    /// Calls `body` with the type and value of each attribute, up to the first with an invalid length.
    static func readAttributes(_ octets: Span<UInt8>, _ body: (Int, Span<UInt8>) -> Void) -> Bool {
        var start = 0
        while start < octets.count {
            guard octets.count - start >= attributeHeadLength else { return false }
            let length = Int(octets.number16(at: start))
            guard length >= attributeHeadLength, length <= octets.count - start else { return false }
            body(Int(octets.number16(at: start + 2) & typeMask), octets.extracting(start + attributeHeadLength..<start + length))
            start += aligned(length)
        }
        return true
    }

    /// Calls `body` with the flags and the link index of each next hop of a multipath route, up to the first with an invalid length.
    static func readNextHops(_ octets: Span<UInt8>, _ body: (_ flags: UInt8, _ link: Int32) -> Void) -> Bool {
        let headLength = 8
        var start = 0
        while start < octets.count {
            guard octets.count - start >= headLength else { return false }
            let length = Int(octets.number16(at: start))
            guard length >= headLength, length <= octets.count - start else { return false }
            body(octets[start + 2], Int32(bitPattern: octets.number32(at: start + 4)))
            start += aligned(length)
        }
        return true
    }

    /// This mask removes the bits that describe the value's encoding (nested, network byte order).
    private static let typeMask: UInt16 = 0x3FFF

    private static func aligned(_ length: Int) -> Int { (length + alignment - 1) / alignment * alignment }
}

extension Span<UInt8> {
    func number16(at start: Int) -> UInt16 { (UInt16(self[start]) | UInt16(self[start + 1]) << 8).littleEndian }

    func number32(at start: Int) -> UInt32 {
        (UInt32(self[start]) | UInt32(self[start + 1]) << 8 | UInt32(self[start + 2]) << 16 | UInt32(self[start + 3]) << 24)
            .littleEndian
    }

    /// The value of an attribute with one number; `nil` if the value is too short.
    var number32: UInt32? { count >= 4 ? number32(at: 0) : nil }

    /// The value of a text attribute, up to its NUL.
    var text: String {
        var octets: [UInt8] = []
        for index in 0..<count {
            if self[index] == 0 { break }
            octets.append(self[index])
        }
        return String(decoding: octets, as: UTF8.self)
    }
}
