import Foundation

// docs/library-testing.md shows the text between the two lines, word for word.
// sample
import HTTPSerialization
import LarderHTTP
import LarderTesting
import Testing

struct Item: Decodable, Equatable, Sendable { let name: String }

/// The code under test.
struct Shop {
    let session: HTTPSession

    func items() async throws -> [Item] {
        try await session.value(SessionRequest(.get, "https://api.example/items"), as: DecodableSerializer<[Item]>())
    }
}

@Test func itemsAreReadAfterARetry() async throws {
    let network = ScriptedNetwork()
    network.on(.get, "/items", replies: [.status(503), .json(#"[{"name": "jam"}]"#).delayed(by: .seconds(30))])
    let shop = Shop(session: try HTTPSession(network))

    #expect(try await shop.items() == [Item(name: "jam")])
    try network.check(.get, "/items", times: 2)
    try network.check()
}
// end of sample

@Suite("The sample in docs/library-testing.md")
struct TestingSampleTests {
    @Test("The page contains this sample")
    func isShown() throws {
        let here = URL(filePath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let source = try String(contentsOf: here, encoding: .utf8)
        let page = try String(contentsOf: root.appending(path: "docs/library-testing.md"), encoding: .utf8)
        let start = try #require(source.range(of: "// sample\n")).upperBound
        let end = try #require(source.range(of: "// end of sample")).lowerBound
        #expect(page.contains(source[start..<end]))
    }
}
