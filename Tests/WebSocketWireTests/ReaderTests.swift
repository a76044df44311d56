import HTTPMessage
import Testing

@testable import WebSocketWire

@Suite("Reading frames (RFC 6455 §5 to §8, RFC 7692 §6 to §8)")
struct ReaderTests {
    static let cases = FramingCases.all + TextAndCloseCases.all + CompressionCases.all

    @Test("There are at least 150 cases, each with a number of its own")
    func counts() {
        #expect(Self.cases.count + OfferTests.answers.count >= 150 && Set(Self.cases.map(\.number)).count == Self.cases.count)
    }

    @Test("Each case gives its events or its fault, whole and in pieces of any length", arguments: cases)
    func reads(example: ReadCase) {
        #expect(example.read(pieceLength: max(1, example.bytes.count)) == example.outcome)
        if example.bytes.count > 10_000 {
            #expect(example.read(pieceLength: 4093) == example.outcome)
        } else {
            for length in 1...7 { #expect(example.read(pieceLength: length) == example.outcome, "in pieces of \(length)") }
        }
    }

    @Test("Each fault closes the connection with a code that may be sent", arguments: WebSocketFault.allCases)
    func closes(fault: WebSocketFault) {
        #expect(WebSocketClosing.isPermitted(fault.closeCode) && fault.isLimit == (fault.closeCode == 1009))
    }

    @Test("A fault in the first two bytes of a frame is reported before further bytes arrive")
    func reportsEarly() {
        let reader = WebSocketReader(.client)
        var offset = 0
        let bytes: [UInt8] = [0x81, 0x85]
        #expect(throws: WebSocketFault.wrongMask) { try reader.next(bytes.span, from: &offset) }
    }
}

@Suite("Writing frames (RFC 6455 §5, RFC 7692 §7.2.1)")
struct WriterTests {
    private func written(
        _ message: WebSocketMessage, role: WebSocketRole = .server, compression: DeflateParameters? = nil,
        fragmentLength: Int = .max
    ) -> [UInt8] {
        let writer = WebSocketWriter(role, compression: compression, fragmentLength: fragmentLength) { 0x37FA_213D }
        var output: [UInt8] = []
        writer.write(message, into: &output)
        return output
    }

    private let hello = WebSocketMessage.text(Array("Hello".utf8))

    @Test("The examples of RFC 6455 §5.7 and RFC 7692 §7.2.3 are written as they are printed there")
    func writesExamples() {
        #expect(written(hello) == hex("81 05 48 65 6c 6c 6f"))
        #expect(written(hello, role: .client) == hex("81 85 37 fa 21 3d 7f 9f 4d 51 58"))
        #expect(written(hello, fragmentLength: 3) == hex("01 03 48 65 6c 80 02 6c 6f"))
        #expect(written(.binary(FramingCases.pattern(256)))[..<4] == hex("82 7E 01 00")[...])
        #expect(written(.binary(FramingCases.pattern(65_536)))[..<10] == hex("82 7F 00 00 00 00 00 01 00 00")[...])
        #expect(written(hello, compression: DeflateParameters()) == hex("c1 07 f2 48 cd c9 c9 07 00"))
        #expect(written(.text([]), compression: DeflateParameters()) == hex("c1 01 00"))
        var ping: [UInt8] = []
        WebSocketWriter.write(.pong, Array("Hello".utf8), maskingKey: 0x37FA_213D, into: &ping)
        #expect(ping == hex("8a 85 37 fa 21 3d 7f 9f 4d 51 58"))
    }

    @Test("The second message uses the context of the first (RFC 7692 §7.2.3.2), unless the sender gave it up")
    func usesContext() {
        for (parameters, second) in [
            (CompressionCases.agreed, "c1 05 f2 00 11 00 00"), (CompressionCases.alone, "c1 07 f2 48 cd c9 c9 07 00"),
        ] {
            let writer = WebSocketWriter(.server, compression: parameters) { 0 }
            var output: [UInt8] = []
            writer.write(hello, into: &output)
            output = []
            writer.write(hello, into: &output)
            #expect(output == hex(second))
        }
    }

    @Test("A message may be sent without compression, and a window of 256 bytes is never used")
    func mayNotCompress() {
        let writer = WebSocketWriter(.server, compression: CompressionCases.agreed) { 0 }
        var output: [UInt8] = []
        writer.write(hello, compresses: false, into: &output)
        #expect(output == hex("81 05 48 65 6c 6c 6f"))
        var small = DeflateParameters()
        small.serverWindowBits = 8
        #expect(written(hello, compression: small) == hex("81 05 48 65 6c 6c 6f"))
    }

    @Test("What a writer writes, a reader reads: kinds, lengths, fragments, windows and contexts", arguments: [8, 9, 12, 15])
    func isRead(windowBits: Int) throws {
        for (keeps, role) in [(true, WebSocketRole.client), (false, .client), (true, .server)] {
            var parameters = DeflateParameters()
            (parameters.clientWindowBits, parameters.serverWindowBits) = (windowBits, windowBits)
            (parameters.clientKeepsContext, parameters.serverKeepsContext) = (keeps, keeps)
            var key: UInt32 = 1
            let writer = WebSocketWriter(role, compression: parameters, fragmentLength: 1000) {
                key = key &* 0x9E37_79B9 &+ 7
                return key
            }
            let reader = WebSocketReader(role == .client ? .server : .client, compression: parameters)
            for count in [0, 1, 5, 125, 126, 999, 1000, 1001, 70_000, 0, 0, 300_000] {
                let message = WebSocketMessage.binary((0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 / 7) })
                var output: [UInt8] = []
                writer.write(message, into: &output)
                var offset = 0
                #expect(try reader.next(output.span, from: &offset) == .message(message) && offset == output.count)
            }
        }
    }
}
