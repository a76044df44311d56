import HTTPCaching
import HTTPMessage
import RESPWire
import ResponseStore
import Testing

@testable import SharedTier

@Suite("The URL of an engine")
struct EngineURLTests {
    @Test(
        "Hosts, ports and several nodes are read",
        arguments: [
            ("redis://cache", ["cache:6379"], false), ("rediss://cache:7000/", ["cache:7000"], true),
            ("redis://a:1,b:2", ["a:1", "b:2"], false), ("redis://[::1]:7000,10.0.0.1", ["[::1]:7000", "10.0.0.1:6379"], false),
        ])
    func reads(text: String, nodes: [String], isSecure: Bool) throws {
        let url = try EngineURL(text)
        #expect(url.nodes.map(\.description) == nodes && url.isSecure == isSecure)
    }

    @Test(
        "Anything else is refused, credentials too",
        arguments: [
            ("http://cache", EngineURL.Fault.scheme), ("cache:6379", .scheme), ("redis://user:secret@cache", .credentials),
            ("redis://", .host), ("redis://a,,b", .host), ("redis://a:0", .port), ("redis://a:65536", .port),
            ("redis://a:b", .port),
            ("redis://a/1", .path), ("redis://a?db=1", .path), ("redis://[::1", .host), ("redis://a b", .host),
        ])
    func refuses(text: String, fault: EngineURL.Fault) { #expect(throws: fault) { try EngineURL(text) } }

    @Test("A purge is written into the engine and read back, and other bytes are no purge")
    func purges() throws {
        var filter = StoreFilter()
        filter.url = URLPattern("http://example.com/*")
        let byFilter = FarmPurge(.matching(filter), isSoft: true)
        let read = try #require(FarmPurge(decoding: byFilter.encoded))
        guard case .matching(let found) = read.request else { throw EngineURL.Fault.path }
        #expect(found == filter && read.isSoft)
        let keys: [[UInt8]] = [[1, 2, 3], [], [4]]
        guard case .keys(let other)? = FarmPurge(decoding: FarmPurge(.keys(keys), isSoft: false).encoded)?.request else {
            throw EngineURL.Fault.path
        }
        #expect(other == keys)
        for bytes in [[], [1, 0], [2, 0, 0], [1, 2, 0], [1, 0, 2], [1, 0, 1, 9, 0, 0, 0, 1], [1, 0, 0, 0x78]] as [[UInt8]] {
            #expect(FarmPurge(decoding: bytes) == nil)
        }
    }
}
