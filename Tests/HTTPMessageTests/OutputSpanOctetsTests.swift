import Testing

@testable import HTTPMessage

@Suite("Writing bytes")
struct OutputSpanOctetsTests {
    static let numbers: [UInt64] =
        (1...19).flatMap { power -> [UInt64] in
            let ten = (0..<power).reduce(1 as UInt64) { product, _ in product * 10 }
            return [ten - 1, ten, ten + 1]
        } + [0, UInt64(UInt32.max), UInt64.max - 1, .max]

    @Test("A number has the digits that it has everywhere", arguments: numbers)
    func writesDecimal(number: UInt64) {
        var output = Array("=".utf8)
        output.append(decimal: number)
        #expect(String(decoding: output, as: UTF8.self) == "=\(number)")
    }

    @Test("Every number of a status, a port or a length of few digits is right, with room for its digits alone")
    func writesSmallDecimals() {
        for number in 0..<10_500 as Range<UInt64> {
            let expected = "\(number)"
            var output: [UInt8] = []
            output.append(addingCapacity: expected.utf8.count) { $0.append(decimal: number) }
            #expect(String(decoding: output, as: UTF8.self) == expected)
        }
    }

    @Test(
        "With a count of digits, zeros stand before the number and its first digits are left out",
        arguments: [
            (7, 3, "007"), (123, 3, "123"), (4567, 3, "567"), (0, 2, "00"), (5, 0, ""), (123_456_789, 8, "23456789"),
            (7, 12, "000000000007"), (1_234_567_890_123, 10, "4567890123"),
        ] as [(UInt64, Int, String)])
    func writesDigits(number: UInt64, count: Int, expected: String) {
        for spare in [1, 8] {
            var output: [UInt8] = []
            output.append(addingCapacity: count + spare) { $0.append(decimal: number, digitCount: count) }
            #expect(String(decoding: output, as: UTF8.self) == expected)
        }
    }

    @Test("In hexadecimal a number has sixteen digits", arguments: numbers + [0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210])
    func writesHexadecimal(number: UInt64) {
        var output: [UInt8] = []
        output.append(addingCapacity: 16) { $0.append(hexadecimal: number) }
        let digits = String(number, radix: 16)
        #expect(String(decoding: output, as: UTF8.self) == String(repeating: "0", count: 16 - digits.count) + digits)
    }

    @Test("Texts and spans, empty ones too, stand one behind the other; an array keeps what it held")
    func writesTexts() {
        let octets = Array("span".utf8)
        var output = Array("held ".utf8)
        output.append("text ")
        output.append("")
        output.append(octets.span)
        output.append(octets.span.extracting(0..<0))
        #expect(String(decoding: output, as: UTF8.self) == "held text span")
    }
}
