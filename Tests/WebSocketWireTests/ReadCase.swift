import Testing

@testable import WebSocketWire

/// Bytes of a peer, and what the reader makes of them.
struct ReadCase: Sendable, CustomTestStringConvertible {
    enum Outcome: Equatable, Sendable {
        case events([WebSocketReader.Event])
        /// The events before the fault, and the fault.
        case fault(WebSocketFault, after: [WebSocketReader.Event])
    }

    /// The section of the RFC, and a number.
    let number: String
    let what: String
    let bytes: [UInt8]
    let outcome: Outcome
    var role = WebSocketRole.client
    var compression: DeflateParameters?
    var limits = WebSocketLimits()

    var testDescription: String { "\(number) \(what)" }

    static func reads(
        _ number: String, _ what: String, _ bytes: [UInt8], _ events: [WebSocketReader.Event], role: WebSocketRole = .client,
        compression: DeflateParameters? = nil, limits: WebSocketLimits = WebSocketLimits()
    ) -> ReadCase {
        ReadCase(
            number: number, what: what, bytes: bytes, outcome: .events(events), role: role, compression: compression,
            limits: limits)
    }

    static func rejects(
        _ number: String, _ what: String, _ bytes: [UInt8], _ fault: WebSocketFault, after events: [WebSocketReader.Event] = [],
        role: WebSocketRole = .client, compression: DeflateParameters? = nil, limits: WebSocketLimits = WebSocketLimits()
    ) -> ReadCase {
        ReadCase(
            number: number, what: what, bytes: bytes, outcome: .fault(fault, after: events), role: role, compression: compression,
            limits: limits)
    }

    /// Reads the bytes in pieces of this length.
    func read(pieceLength: Int) -> Outcome {
        let reader = WebSocketReader(role, limits: limits, compression: compression)
        var events: [WebSocketReader.Event] = []
        var start = 0
        while start < bytes.count {
            let piece = Array(bytes[start..<min(start + pieceLength, bytes.count)])
            start += piece.count
            var offset = 0
            do throws(WebSocketFault) {
                while let event = try reader.next(piece.span, from: &offset) { events.append(event) }
            } catch { return .fault(error, after: events) }
        }
        return .events(events)
    }
}

/// A frame, written without the module under test.
func frame(
    _ opcode: UInt8, _ payload: [UInt8] = [], isFinal: Bool = true, reserved: UInt8 = 0, key: [UInt8]? = nil
) -> [UInt8] {
    var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
    let mask: UInt8 = key == nil ? 0 : 0x80
    switch payload.count {
    case 0...125: bytes.append(mask | UInt8(payload.count))
    case 126...0xFFFF: bytes += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default: bytes += [mask | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
    }
    guard let key else { return bytes + payload }
    return bytes + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
}

func text(_ text: String) -> WebSocketReader.Event { .message(.text(Array(text.utf8))) }
func binary(_ bytes: [UInt8]) -> WebSocketReader.Event { .message(.binary(bytes)) }

/// Bytes from hexadecimal digits; blanks are skipped.
func hex(_ digits: String) -> [UInt8] {
    let digits = digits.filter { !$0.isWhitespace }
    var bytes: [UInt8] = []
    var index = digits.startIndex
    while index < digits.endIndex {
        let end = digits.index(index, offsetBy: 2)
        bytes.append(UInt8(digits[index..<end], radix: 16)!)
        index = end
    }
    return bytes
}
