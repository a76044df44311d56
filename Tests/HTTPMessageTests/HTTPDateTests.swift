import HTTPMessage
import Testing

@Suite("HTTP-date (RFC 9110 §5.6.7)")
struct HTTPDateTests {
    /// 2024-06-01T00:00:00Z
    static let now = Timestamp(seconds: 1_717_200_000)

    static func parse(_ text: String, now: Timestamp = now) -> Int64? {
        HTTPDate.parse(Array(text.utf8).span, now: now)?.seconds
    }

    static func text(_ seconds: Int64) -> String {
        var output: [UInt8] = []
        HTTPDate.write(Timestamp(seconds: seconds), into: &output)
        return String(decoding: output, as: UTF8.self)
    }

    @Test(
        "All three forms are parsed",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Sun Nov 16 08:49:37 1994", 784_975_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
            ("Wednesday, 09-Nov-94 08:49:37 GMT", 784_370_977),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800),
            // A leap second counts as the next second.
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
            // The last time that can be written again.
            ("Fri, 31 Dec 9999 23:59:60 GMT", 253_402_300_799),
            // RFC 9111 §4.2: a cache compares case-insensitively.
            ("sUN, 06 nOV 1994 08:49:37 gmt", 784_111_777),
        ])
    func readsThreeForms(text: String, seconds: Int64) {
        #expect(Self.parse(text) == seconds)
    }

    @Test(
        "Text that is not an HTTP-date is rejected",
        arguments: [
            "", "0", "-1", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +00",
            "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
            "Sun, 29 Feb 2023 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Xxx, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Xxx 1994 08:49:37 GMT", "Sun  06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
            "Sun Nov  x 08:49:37 1994", "Sunnday, 06-Nov-94 08:49:37 GMT", "Sunday, 06 Nov 94 08:49:37 GMT",
            "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
            " Sun, 06 Nov 1994 08:49:37 GMT", "784111777",
        ])
    func refusesOthers(text: String) {
        #expect(Self.parse(text) == nil)
    }

    @Test(
        "A two-digit year more than 50 years ahead means the past",
        arguments: [
            ("Friday, 31-May-74 00:00:00 GMT", "Thu, 31 May 2074 00:00:00 GMT"),
            // The same day in 50 years is not more than 50 years ahead; one second later is.
            ("Friday, 01-Jun-74 00:00:00 GMT", "Fri, 01 Jun 2074 00:00:00 GMT"),
            ("Friday, 01-Jun-74 00:00:01 GMT", "Sat, 01 Jun 1974 00:00:01 GMT"),
            ("Friday, 01-Jan-75 00:00:00 GMT", "Wed, 01 Jan 1975 00:00:00 GMT"),
            ("Friday, 01-Jan-24 00:00:00 GMT", "Mon, 01 Jan 2024 00:00:00 GMT"),
            ("Friday, 01-Jan-99 00:00:00 GMT", "Fri, 01 Jan 1999 00:00:00 GMT"),
        ])
    func choosesCentury(text: String, expected: String) throws {
        let seconds = try #require(Self.parse(text))
        #expect(Self.text(seconds) == expected)
    }

    @Test("A written date is parsed as the same time", arguments: 0..<500 as Range<UInt64>)
    func writesWhatItReads(seed: UInt64) {
        // A fixed stride through all days of the calendar.
        let seconds = Int64(bitPattern: (seed &* 0x9E37_79B9_7F4A_7C15) % 315_569_519_999) - 62_167_219_200
        let text = Self.text(seconds)
        #expect(text.utf8.count == 29)
        #expect(Self.parse(text) == seconds, "\(text)")
    }

    @Test("The weekday is correct", arguments: [(0, "Thu"), (1_717_200_000, "Sat"), (-86_400, "Wed"), (784_111_777, "Sun")])
    func writesWeekday(seconds: Int64, name: String) {
        #expect(Self.text(seconds).hasPrefix(name))
    }
}
