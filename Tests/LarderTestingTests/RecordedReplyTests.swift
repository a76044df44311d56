import HTTPMessage
import LarderHTTP
import LarderTesting
import Snapshots
import Testing

@Suite("A scripted network: recordings")
struct RecordedReplyTests {
    private struct Exchange {
        var method = "GET"
        let uri: String
        var content = ""
        var fields: [(String, String)] = [("Content-Type", "text/plain")]
        let body: String
        var failure: RecordedFailure?
    }

    /// Writes a recording with these exchanges.
    private static func record(_ exchanges: [Exchange], to path: String) throws {
        let writer = try SnapshotWriter(
            path: path, existing: .refuse, terms: MatchTerms(), tool: "test", now: Timestamp(seconds: 1_795_415_000))
        let matcher = try RequestMatcher(writer.manifest.terms)
        for exchange in exchanges {
            var fields = Fields()
            for (name, value) in exchange.fields { fields.append(name: name, value: value) }
            let content = Array(exchange.content.utf8)
            let request = RequestToMatch(
                method: Array(exchange.method.utf8), uri: Array(exchange.uri.utf8), fields: Fields(),
                body: content.isEmpty ? .none : .octets(content))
            let identity = try #require(matcher.identity(of: request, response: fields, under: nil))
            let response = RecordedResponse(status: Status(200), fields: fields, body: try writer.body(Array(exchange.body.utf8)))
            try writer.append(
                Recording(
                    request: RecordedRequest(
                        method: request.method, uri: request.uri, fields: request.fields, body: try writer.body(content)),
                    response: exchange.failure?.kind == .refused ? nil : response, failure: exchange.failure,
                    times: RecordedTimes(started: Timestamp(seconds: 1_795_415_000)), identity: identity,
                    generation: writer.generation))
        }
        _ = try writer.finish(signing: nil)
    }

    @Test("A recording answers the requests that no entry means, by method, URL and content")
    func replays() async throws {
        let folder = try TemporaryFolder()
        try Self.record(
            [
                Exchange(uri: "https://api.example:443/items?page=1", body: "recorded"),
                Exchange(method: "POST", uri: "https://api.example:443/items", content: "jam", body: "made"),
            ], to: folder.path("api.larder"))
        let network = ScriptedNetwork()
        network.on(.get, "/own", reply: .text("scripted"))
        try network.replay(folder.path("api.larder"))
        let session = try HTTPSession(network)
        let response = try await session.get("https://api.example/items", parameters: ["page": "1"])
        #expect(response.text == "recorded" && response.fields["Content-Type"] == "text/plain")
        #expect(try await session.get("https://api.example/own").text == "scripted")
        let post = try await session.upload(SessionRequest(.post, "https://api.example/items"), from: .octets(Array("jam".utf8)))
        #expect(post.text == "made")
        await #expect(throws: SessionError(.hostNotAllowed)) {
            try await session.upload(SessionRequest(.post, "https://api.example/items"), from: .octets(Array("tea".utf8)))
        }
        #expect(network.unexpectedRequests.map(\.text) == ["tea"])
    }

    @Test("Recorded failures fail again, with the part that was recorded")
    func replaysFailures() async throws {
        let folder = try TemporaryFolder()
        try Self.record(
            [
                Exchange(
                    uri: "http://a.example:80/cut", fields: [("Content-Length", "8")], body: "half",
                    failure: RecordedFailure(.cutShort, code: "response_incomplete")),
                Exchange(
                    uri: "http://a.example:80/gone", body: "", failure: RecordedFailure(.refused, code: "connection_refused")),
            ], to: folder.path("a.larder"))
        let network = ScriptedNetwork()
        try network.replay(folder.path("a.larder"))
        let session = try HTTPSession(network)
        let error = await #expect(throws: SessionError.self) { try await session.get("http://a.example/cut") }
        #expect(error?.code == .incompleteResponse && error?.partialBody == Array("half".utf8))
        await #expect(throws: SessionError(.connectionRefused)) { try await session.get("http://a.example/gone") }
    }

    @Test("A file that is no recording is refused with its path")
    func refusesOtherFiles() throws {
        let folder = try TemporaryFolder()
        folder.write(Array("no recording".utf8), to: "a.larder")
        let failure = #expect(throws: ScriptFailure.self) { try ScriptedNetwork().replay(folder.path("a.larder")) }
        #expect(failure?.description.hasPrefix("\(folder.path("a.larder")) cannot be replayed: ") == true)
    }
}
