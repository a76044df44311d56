import HTTPMessage
import Testing

@Suite("Timestamps")
struct TimestampTests {
    @Test(
        "Seconds are rounded down, also at the limits of 64 bits",
        arguments: [
            (0, 0), (999, 0), (1000, 1), (-1, -1), (-999, -1), (-1000, -1), (-1001, -2),
            (Int64.max, 9_223_372_036_854_775), (Int64.min, -9_223_372_036_854_776),
        ] as [(Int64, Int64)])
    func roundsDown(milliseconds: Int64, seconds: Int64) {
        #expect(Timestamp(milliseconds: milliseconds).seconds == seconds)
    }
}
