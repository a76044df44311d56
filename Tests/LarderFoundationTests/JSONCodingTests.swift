import Foundation
import HTTPSerialization
import LarderHTTP
import LarderFoundation
import LarderTesting
import Testing

@Suite("Foundation: values as JSON on every verb")
struct JSONCodingTests {
    private struct Item: Codable, Equatable, Sendable {
        var itemName: String
        var madeAt: Date?
        var page: URL?
    }

    private static let item = Item(
        itemName: "jam", madeAt: Date(timeIntervalSince1970: 1_795_415_000), page: URL(string: "https://a.example/?q"))
    private static let text = #"{"item_name":"jam","made_at":"2026-11-23T06:23:20Z","page":"https://a.example/?q"}"#
    private static let url = URL(string: "https://api.example/items/1")!

    @Test("A GET decodes its response with the coding's strategies, and adds an object to the query")
    func gets() async throws {
        struct Query: Encodable { let pageSize: Int; let sortBy: String }
        let network = ScriptedNetwork()
        network.on(.get, "https://api.example/items/1?page_size=5&sort_by=name", reply: .json(Self.text))
        let session = try HTTPSession(network)
        let item = try await session.get(
            Self.url, query: Query(pageSize: 5, sortBy: "name"), as: Item.self, coding: .snakeCase)
        #expect(item == Self.item)
        #expect(network.requests[0].fields["Accept"]?.contains("application/json") == true)
    }

    @Test(
        "POST, PUT, PATCH and DELETE send a value as JSON, and decode the response or return it",
        arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func sends(verb: String) async throws {
        let network = ScriptedNetwork()
        network.on(nil, "/items/1", reply: .json(Self.text))
        let session = try HTTPSession(network)
        let (value, response): (Item, SessionResponse)
        switch verb {
        case "POST":
            value = try await session.post(Self.url, json: Self.item, coding: .snakeCase)
            response = try await session.post(Self.url, json: [1, 2])
        case "PUT":
            value = try await session.put(Self.url, json: Self.item, coding: .snakeCase)
            response = try await session.put(Self.url, json: [1, 2])
        case "PATCH":
            value = try await session.patch(Self.url, json: Self.item, coding: .snakeCase)
            response = try await session.patch(Self.url, json: [1, 2])
        default:
            value = try await session.delete(Self.url, json: Self.item, coding: .snakeCase)
            response = try await session.delete(Self.url, json: [1, 2])
        }
        #expect(value == Self.item && response.data == Data(Self.text.utf8) && response.url == Self.url)
        let requests = network.requests
        #expect(requests.map(\.method.name) == [verb, verb])
        #expect(try JSONValue(parsing: requests[0].body).description.contains("\"made_at\":\"2026-11-23T06:23:20Z\""))
        #expect(requests[1].text == "[1,2]" && requests[1].fields["Content-Type"] == "application/json")
    }

    @Test("A HEAD has no content, and a DELETE may have none")
    func sendsNothing() async throws {
        let network = ScriptedNetwork()
        network.on(nil, "/items/1", reply: .json("null"))
        let session = try HTTPSession(network)
        #expect(try await session.head(Self.url).status == 200)
        let item: Item? = try await session.delete(Self.url)
        #expect(item == nil && network.requests.allSatisfy { $0.body.isEmpty && $0.fields["Content-Type"] == nil })
    }

    @Test(
        "Content that is not JSON, or is another type, is an error with the path of the mismatch",
        arguments: [
            ("{\"itemName\":", SessionError.Code.malformedJSON, ""), ("{\"itemName\":7}", .otherType, "itemName: "),
            ("", .otherType, ""),
        ])
    func refuses(text: String, code: SessionError.Code, path: String) async throws {
        let network = ScriptedNetwork()
        network.on(.get, "/items/1", reply: .json(text))
        let session = try HTTPSession(network)
        let error = await #expect(throws: SessionError.self) { try await session.get(Self.url, as: Item.self) }
        #expect(error?.code == code && error?.causes.first?.detail.hasPrefix(path) == true)
        #expect(error?.partialData == Data(text.utf8))
    }

    @Test("A value that cannot be encoded, and a query that is no object, send nothing")
    func sendsNoFaults() async throws {
        let session = try HTTPSession(ScriptedNetwork())
        await #expect(throws: SessionError(.requestSerialization)) { try await session.post(Self.url, json: [Double.nan]) }
        await #expect(throws: SessionError(.requestSerialization)) { try await session.head(Self.url, query: [1]) }
    }

    @Test("Data, URL and files are accepted where the session has bytes, targets and paths")
    func converts() async throws {
        let network = ScriptedNetwork()
        network.on(nil, "/*", reply: .text("content"))
        let session = try HTTPSession(network)
        let folder = URL.temporaryDirectory.appending(path: "larder \(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "a b.txt")
        let downloaded = try await session.download(SessionRequest(.get, Self.url), to: .file(file))
        #expect(try Data(contentsOf: downloaded.url) == Data("content".utf8))
        _ = try await session.upload(SessionRequest(.put, Self.url), from: .file(file))
        _ = try await session.send(SessionRequest(.put, Self.url, body: .data(Data([1, 2]))))
        #expect(network.requests.map(\.body) == [[], Array("content".utf8), [1, 2]])
        #expect(try await session.value(SessionRequest(.get, Self.url), as: DataSerializer()) == Data("content".utf8))
        let stream = try await session.open(SessionRequest(.get, Self.url))
        #expect(try await stream.body.data(atMost: 100) == Data("content".utf8))
        #expect(try TargetURI(Self.url).url == Self.url)
    }

    @Test("A relative URL is resolved against the session's base")
    func resolves() async throws {
        let network = ScriptedNetwork()
        network.on(.get, "https://api.example/v1/items", reply: .text("relative"))
        var configuration = SessionConfiguration()
        configuration.base = try TargetURI("https://api.example/v1")
        let session = try HTTPSession(network, configuration: configuration)
        #expect(try await session.send(SessionRequest(.get, URL(string: "items")!)).text == "relative")
    }
}
