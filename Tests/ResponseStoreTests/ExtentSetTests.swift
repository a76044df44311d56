import TestSupport
import Testing

@testable import ResponseStore

@Suite("The extents of a body")
struct ExtentSetTests {
    @Test(
        "Extents added in any order are kept sorted and without overlap, and cover everything that was added",
        arguments: 1...50 as ClosedRange<UInt64>)
    func holdsAll(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var set = ExtentSet([])
        var came = Set<UInt64>()
        for id in 1...40 as ClosedRange<Int64> {
            let start = UInt64.random(in: 0..<90, using: &generator)
            let length = UInt64.random(in: 1...min(30, 100 - start), using: &generator)
            let before = set.rows
            let replaced = set.insert(ExtentRow(id: id, response: 1, base: start, length: length))
            if replaced == nil { #expect(set.rows.map(\.id) == before.map(\.id)) }
            came.formUnion(start..<start + length)
            for (one, next) in zip(set.rows, set.rows.dropFirst()) { #expect(one.range.upperBound <= next.range.lowerBound) }
            for row in set.rows {
                #expect(!row.range.isEmpty)
                #expect(row.base <= row.range.lowerBound && row.range.upperBound <= row.base + row.length)
            }
            #expect(Set(set.rows.flatMap { Array($0.range) }) == came)
            #expect(Set(set.ranges.flatMap { Array($0) }) == came)
            #expect(set.covers(100) == (came.count == 100))
        }
    }

    @Test("The number of extents is limited")
    func isBounded() {
        var set = ExtentSet([])
        for number in 0..<UInt64(ExtentRow.limit) {
            #expect(set.insert(ExtentRow(id: Int64(number), response: 1, base: number * 2, length: 1)) != nil)
        }
        #expect(set.insert(ExtentRow(id: 9999, response: 1, base: 9999, length: 1)) == nil)
        // An extent that covers another one replaces it.
        #expect(set.insert(ExtentRow(id: 9998, response: 1, base: 1, length: 4))?.count == 1)
    }
}
