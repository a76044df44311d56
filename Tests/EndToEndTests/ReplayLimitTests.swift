import HTTPMessage
import Snapshots
import TestSupport
import Testing

@testable import LarderCLI
@testable import Recordings

@Suite("Limits of replaying")
struct ReplayLimitTests {
    @Test(
        "Contents are the same, complete and in ranges, however many reads and open bodies there are",
        arguments: [0, 99_999, 100_000])
    func readsInPieces(wholeLength: UInt64) throws {
        let bodies = (0..<3).map { PatternBytes.make(100_000, seed: $0) }
        let stage = try RecordedStage { request, _, connection in
            connection.respond(octets: bodies[Int(String(request.target.dropFirst())) ?? 0])
        }
        try stage.record { proxy in for path in ["/0", "/1", "/2"] { _ = try stage.ask(proxy, path) } }
        stage.origin.stop()
        let proxy = try stage.replaying { terms in
            terms.limits.wholeLength = wholeLength
            terms.limits.openBodies = 1
        }
        for _ in 0..<2 {
            for (index, body) in bodies.enumerated() {
                #expect(try stage.ask(proxy, "/\(index)").body == body)
                #expect(try stage.ask(proxy, "/\(index)", fields: "Range: bytes=-10\r\n").body == body.suffix(10))
            }
        }
    }

    @Test("Content is decoded up to a limit for the encoded and the decoded length, and passes encoded above it")
    func decodesToTheLimit() throws {
        let plain = Array(repeatElement(Array("0123456789".utf8), count: 1000).joined())
        let packed = Gzip.pack(plain)
        let stage = try RecordedStage { _, _, connection in
            connection.respond(fields: "Content-Encoding: gzip\r\n", octets: packed)
        }
        try stage.record { _ = try stage.ask($0, "/a", fields: "Accept-Encoding: gzip\r\n") }
        for (limit, body) in [
            (10_000, plain), (9999, packed), (UInt64(packed.count), packed), (UInt64(packed.count - 1), packed),
        ] {
            let proxy = try stage.replaying { $0.limits.decodedLength = limit }
            let answer = try stage.ask(proxy, "/a", fields: "Accept-Encoding: br\r\n")
            #expect(answer.body == body && answer["Content-Encoding"] == (body == plain ? nil : "gzip"), "\(limit)")
        }
    }

    @Test(
        "Up to the limit each client has its own sequence; one client more makes all sequences start again",
        arguments: [2, 3])
    func forgetsSessions(sessions: Int) throws {
        let count = Counter()
        let stage = try RecordedStage { _, _, connection in connection.respond(body: "\(count.next())") }
        try stage.record { proxy in for _ in 0..<3 { _ = try stage.ask(proxy, "/a") } }
        var terms = ReplaySources.Terms()
        terms.files = [stage.path]
        terms.key = Recorder.key
        terms.limits.sessions = sessions
        let reader = try ReplayReader(terms)
        let request = RequestToMatch(
            method: Array("GET".utf8), uri: Array("http://127.0.0.1:\(stage.origin.port)/a".utf8), fields: Fields())
        /// The number of the response in its sequence.
        func place(_ who: String) throws -> Int {
            let query = RecordingQuery(request: request, scope: Array(who.utf8), now: Timestamp(seconds: 0), wantsNearest: false)
            guard case .found(_, let place) = reader.find(query) else { throw SnapshotError.malformed("not found") }
            return place.place
        }
        #expect(try [place("one"), place("other"), place("one")] == [0, 0, 1])
        #expect(try place("third") == 0)
        #expect(try place("one") == (sessions == 2 ? 0 : 2))
    }
}
