import Testing

@testable import HTTPMessage

@Suite("Writing bytes")
struct OutputSpanOctetsTests {
    static let numbers: [UInt64] =
        (1...19).flatMap { power -> [UInt64] in
            let ten = (0..<power).reduce(1 as UInt64) { product, _ in product * 10 }
            return [ten - 1, ten, ten + 1]
        } + [0, UInt64(UInt32.max), UInt64.max - 1, .max]

    @Test("A number is written with its decimal digits", arguments: numbers)
    func writesDecimal(number: UInt64) {
        var output = Array("=".utf8)
        output.append(decimal: number)
        #expect(String(decoding: output, as: UTF8.self) == "=\(number)")
    }

    @Test("Every small number (a status, a port, a short length) is written correctly into space for its digits only")
    func writesSmallDecimals() {
        for number in 0..<10_500 as Range<UInt64> {
            let expected = "\(number)"
            var output: [UInt8] = []
            output.append(addingCapacity: expected.utf8.count) { $0.append(decimal: number) }
            #expect(String(decoding: output, as: UTF8.self) == expected)
        }
    }

    @Test(
        "With a fixed count of digits, a number gets leading zeros or loses its first digits",
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

    @Test("A hexadecimal number has sixteen digits", arguments: numbers + [0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210])
    func writesHexadecimal(number: UInt64) {
        var output: [UInt8] = []
        output.append(addingCapacity: 16) { $0.append(hexadecimal: number) }
        let digits = String(number, radix: 16)
        #expect(String(decoding: output, as: UTF8.self) == String(repeating: "0", count: 16 - digits.count) + digits)
    }

    @Test("Texts and spans, also empty ones, are appended in order; an array keeps its content")
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
