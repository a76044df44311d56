import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("Current age (RFC 9111 §4.2.3)")
struct AgeTests {
    @Test(
        "The initial age is the greater of apparent age and corrected age value",
        arguments: [
            // Age, Date ahead of (+) or behind (-) reception, delay in ms, expected ms
            (nil, 0, 0, 0), (nil, -10, 0, 10_000), (nil, 3600, 0, 0), ("5", 0, 0, 5000), ("5", -10, 0, 10_000),
            ("20", -10, 0, 20_000), ("5", 0, 1500, 6500), (nil, 0, 1500, 1500), ("0", 0, 0, 0), ("5", 3600, 0, 5000),
        ] as [(String?, Int64, Int64, Int64)])
    func correctsInitialAge(age: String?, dateOffset: Int64, delay: Int64, expected: Int64) throws {
        let head = response(200, "Date: " + date(dateOffset), age.map { "Age: \($0)" } ?? "X: 1", #"ETag: "x""#)
        let requestTime = Timestamp(milliseconds: arrival.milliseconds - delay)
        let facts = try facts(head, requestTime: requestTime)
        #expect(facts.initialAgeInMilliseconds == expected)
    }

    @Test(
        "The age grows with the time in the store, in whole seconds rounded down",
        arguments: [(0, 0), (999, 0), (1000, 1), (61_500, 61)] as [(Int64, Int64)])
    func grows(milliseconds: Int64, age: Int64) throws {
        let facts = try facts(response(200, "Cache-Control: max-age=60"))
        #expect(facts.currentAge(at: Timestamp(milliseconds: arrival.milliseconds + milliseconds)) == DeltaSeconds(age))
    }

    @Test(
        "An origin clock that is ahead, or a local clock that was set back, never makes the age negative",
        arguments: [0, 1, 3600, 1_000_000] as [Int64])
    func neverNegative(skew: Int64) throws {
        let facts = try facts(response(200, "Date: " + date(skew), "Cache-Control: max-age=60"))
        #expect(facts.currentAge(at: arrival.advanced(seconds: -skew)) == .zero)
    }

    @Test("A response that arrives within the second of its Date has no apparent age")
    func toleratesSubseconds() throws {
        let late = Timestamp(milliseconds: arrival.milliseconds + 900)
        let facts = try facts(response(200, "Cache-Control: max-age=1"), requestTime: late, responseTime: late)
        #expect(facts.initialAgeInMilliseconds == 0)
    }

    @Test("A missing or invalid Date is replaced by the time of reception", arguments: ["X: 1", "Date: yesterday", "Date: 0"])
    func missingDate(field: String) throws {
        let facts = try facts(response(200, field, "Cache-Control: max-age=60", date: false))
        #expect(facts.dateValue == arrival)
        #expect(facts.initialAgeInMilliseconds == 0)
    }

    @Test(
        "Only the first member of Age counts, and an Age that is not a number is ignored (§5.1)",
        arguments: [
            (["10", "50"], 10), (["10, 50"], 10), ([" , 10, x"], 10), (["", "10"], 10), (["010"], 10),
            (["-1"], 0), (["x, 10"], 0), (["x", "10"], 0), (["1.0"], 0), (["10;a=b"], 0), (["\"10\""], 0), (["10s"], 0),
            ([""], 0),
        ] as [([String], Int64)])
    func readsAge(lines: [String], seconds: Int64) throws {
        var head = response(200, "Cache-Control: max-age=60")
        for line in lines { head.fields.append(name: "Age", value: line) }
        let facts = try facts(head)
        #expect(facts.initialAgeInMilliseconds == seconds * 1000)
        #expect(reuse(facts, after: 0).isFresh)
    }

    @Test("An Age that is too large becomes 2^31, and stays so (§1.2.2)")
    func overflows() throws {
        let facts = try facts(response(200, "Age: 99999999999999999999", "Cache-Control: max-age=60", #"ETag: "x""#))
        #expect(facts.currentAge(at: arrival.advanced(seconds: 1_000_000)) == .greatest)
        var output: [UInt8] = []
        output.append(addingCapacity: Age.lineLimit) { Age.write(.greatest, into: &$0) }
        #expect(text(output) == "Age: 2147483648\r\n")
    }

    @Test("A response is fresh while its lifetime exceeds its age, not when they are equal (§4.2)")
    func isFreshStrictly() throws {
        let facts = try facts(response(200, "Cache-Control: max-age=60", "Age: 10"))
        #expect(reuse(facts, after: 49).isFresh)
        #expect(!reuse(facts, after: 50).isFresh)
    }
}

@Suite("Delta seconds (RFC 9111 §1.2.2)")
struct DeltaSecondsTests {
    @Test(
        "Only digits are accepted",
        arguments: [
            ("0", 0), ("60", 60), ("007", 7), ("2147483647", 2_147_483_647), ("2147483648", 2_147_483_648),
            ("2147483649", 2_147_483_648), ("18446744073709551616", 2_147_483_648), ("", nil), ("-1", nil), ("+1", nil),
            ("1 ", nil), ("1a", nil), ("0x10", nil),
        ] as [(String, Int64?)])
    func reads(text: String, expected: Int64?) {
        #expect(DeltaSeconds(Array(text.utf8).span) == expected.map { DeltaSeconds($0) })
    }

    @Test("A given number is clamped", arguments: [(-1, 0), (0, 0), (Int64.max, 1 << 31), (Int64.min, 0)] as [(Int64, UInt32)])
    func clamps(number: Int64, expected: UInt32) {
        #expect(DeltaSeconds(number).seconds == expected)
    }
}
