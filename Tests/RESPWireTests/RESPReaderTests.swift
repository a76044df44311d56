import Testing

@testable import RESPWire

func read(_ text: String, limits: RESPLimits = RESPLimits(), pieces: Int = .max) throws -> [RESPValue] {
    var reader = RESPReader(limits: limits)
    var values: [RESPValue] = []
    let octets = Array(text.utf8)
    for start in stride(from: 0, to: octets.count, by: min(pieces, max(octets.count, 1))) {
        octets[start..<min(octets.count, start + min(pieces, octets.count))].withUnsafeBytes { reader.append($0) }
        while let value = try reader.next() { values.append(value) }
    }
    return values
}

@Suite("RESP: reading replies")
struct RESPReaderTests {
    static let replies: [(String, RESPValue)] = [
        ("+OK\r\n", .text(Array("OK".utf8))),
        (":-42\r\n", .integer(-42)),
        ("$5\r\na\r\nbc\r\n", .bytes(Array("a\r\nbc".utf8))),
        ("$0\r\n\r\n", .bytes([])),
        ("$-1\r\n", .null), ("*-1\r\n", .null), ("_\r\n", .null),
        ("#t\r\n", .flag(true)), ("#f\r\n", .flag(false)),
        (",1.5\r\n", .text(Array("1.5".utf8))),
        ("=7\r\ntxt:abc\r\n", .bytes(Array("abc".utf8))),
        ("*2\r\n:1\r\n*1\r\n$1\r\nx\r\n", .list([.integer(1), .list([.bytes([0x78])])])),
        ("%1\r\n+k\r\n+v\r\n", .list([.text([0x6B]), .text([0x76])])),
        ("~1\r\n:7\r\n", .list([.integer(7)])),
        (">2\r\n+message\r\n+c\r\n", .push([.text(Array("message".utf8)), .text([0x63])])),
        ("|1\r\n+ttl\r\n:3\r\n:9\r\n", .integer(9)),
        ("!7\r\nERR bad\r\n", .error(EngineError(Array("ERR bad".utf8)))),
    ]

    @Test("Every kind of reply is read, however its bytes arrive", arguments: replies)
    func kinds(text: String, value: RESPValue) throws {
        for pieces in [1, 2, 3, .max] {
            #expect(try read(text + text, pieces: pieces) == [value, value])
        }
    }

    @Test(
        "Bytes that are not RESP are refused",
        arguments: ["x\r\n", "$-2\r\n", "$abc\r\n", ":\r\n", "#x\r\n", "_x\r\n", "$2\r\nabcd\r\n", "%-1\r\n", "*1\r\n?\r\n"])
    func malformed(text: String) { #expect(throws: RESPFault.malformed) { try read(text) } }

    @Test("Each limit holds at its value and refuses one more")
    func limits() throws {
        var limits = RESPLimits()
        (limits.line, limits.string, limits.elements, limits.depth) = (8, 4, 3, 2)
        #expect(try read("+12345678\r\n", limits: limits).count == 1)
        #expect(throws: RESPFault.tooLong) { try read("+123456789\r\n", limits: limits) }
        #expect(throws: RESPFault.tooLong) { try read("+1234567890123", limits: limits) }
        #expect(try read("$4\r\nabcd\r\n", limits: limits).count == 1)
        #expect(throws: RESPFault.tooLong) { try read("$5\r\n", limits: limits) }
        #expect(try read("*2\r\n:1\r\n:2\r\n", limits: limits).count == 1)
        #expect(throws: RESPFault.tooManyElements) { try read("*3\r\n:1\r\n:2\r\n:3\r\n", limits: limits) }
        #expect(throws: RESPFault.tooManyElements) { try read("*4\r\n", limits: limits) }
        #expect(try read("*1\r\n*1\r\n:1\r\n", limits: limits).count == 1)
        #expect(throws: RESPFault.tooDeep) { try read("*1\r\n*1\r\n*1\r\n", limits: limits) }
        limits = RESPLimits()
        limits.reply = 10
        #expect(throws: RESPFault.tooLong) { try read("$20\r\n", limits: limits) }
    }

    @Test("A command is an array of bulk strings, whatever bytes its words have")
    func writes() {
        var output: [UInt8] = []
        RESPWriter.append(["SET", RESPWord([0x00, 0x0D, 0x0A]), RESPWord(12)], to: &output)
        #expect(output == Array("*3\r\n$3\r\nSET\r\n$3\r\n\0\r\n\r\n$2\r\n12\r\n".utf8))
    }
}
