import HTTPCaching
import HTTPMessage
import ResponseStore
import Testing

@testable import SharedTier

@Suite("Records of purges")
struct FarmPurgeRecordTests {
    private struct NotRead: Error {}

    @Test("A purge is written into the engine and read back, and other bytes are no purge")
    func purges() throws {
        var filter = StoreFilter()
        filter.url = URLPattern("http://example.com/*")
        let byFilter = FarmPurge(.matching(filter), isSoft: true)
        let read = try #require(FarmPurge(decoding: byFilter.encoded))
        guard case .matching(let found) = read.request else { throw NotRead() }
        #expect(found == filter && read.isSoft)
        let keys: [[UInt8]] = [[1, 2, 3], [], [4]]
        guard case .keys(let other)? = FarmPurge(decoding: FarmPurge(.keys(keys), isSoft: false).encoded)?.request else {
            throw NotRead()
        }
        #expect(other == keys)
        for bytes in [[], [1, 0], [2, 0, 0], [1, 2, 0], [1, 0, 2], [1, 0, 1, 9, 0, 0, 0, 1], [1, 0, 0, 0x78]] as [[UInt8]] {
            #expect(FarmPurge(decoding: bytes) == nil)
        }
    }
}
