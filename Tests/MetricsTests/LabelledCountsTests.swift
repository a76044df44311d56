import Metrics
import Testing

@Suite("Counts by labels")
struct LabelledCountsTests {
    @Test("Each combination has its count")
    func counts() {
        var counts = LabelledCounts()
        for key: UInt32 in [1, 2, 1, 0xFFFF_FFFF, 1, 513] { counts.add(key) }
        #expect(counts.counts == [1: 3, 2: 1, 513: 1, 0xFFFF_FFFF: 1])
    }

    @Test("Combinations beyond the limit are counted together, and earlier ones go on alone")
    func limits() {
        var counts = LabelledCounts()
        for key in 1...1000 { counts.add(UInt32(key)) }
        for key in 1...1000 { counts.add(UInt32(key)) }
        let result = counts.counts
        #expect(result.count == LabelledCounts.limit + 1)
        #expect((1...LabelledCounts.limit).allSatisfy { result[UInt32($0)] == 2 })
        #expect(result[0] == UInt64(2 * (1000 - LabelledCounts.limit)))
    }
}
