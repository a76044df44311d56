import EventLoop
import HTTP2Wire
import HTTPMessage
import TestSupport
import Testing

@Suite("Conformance towards origins over sockets (RFC 9113 §3 to §8, RFC 7541)")
struct HTTP2OriginConformanceTests {
    /// One case, and what the proxy did about it.
    private final class Run: Sendable {
        let test: ConformanceCase
        let host: String
        let methods: [Method]
        /// Opened when the origin has the request.
        let arrived: [Gate]
        let hasReacted = Gate()
        private let outcome = Guarded<(reaction: Reaction, hasEnded: Bool)?>(nil)

        init?(_ test: ConformanceCase, number: Int) {
            switch test.start {
            case .client: methods = [.get]
            case .clientReady(let requests): methods = requests
            default: return nil
            }
            self.test = test
            host = "c\(number).cases.test"
            arrived = methods.map { _ in Gate() }
        }

        var result: (reaction: Reaction, hasEnded: Bool)? { outcome.withLock { $0 } }

        /// The origin's part.
        func serve(_ server: inout FrameServer, _ connection: borrowing OriginConnection) -> Bool {
            if case .clientReady = test.start { server.begin(on: connection) }
            for gate in arrived {
                guard server.readRequest(on: connection) != nil else { return false }
                gate.open()
            }
            let reaction = server.react(to: test.bytes, on: connection)
            outcome.withLock { [hasEnded = server.hasEnded] in $0 = (reaction, hasEnded) }
            // Clients whose response has not ended get its end in this way.
            let open = streams.filter { stream in !test.ends(stream) }
            connection.send(open.map { .reset($0, HTTP2ErrorCode.internalError.rawValue) })
            hasReacted.open()
            return !server.hasEnded
        }

        private var streams: [UInt32] { methods.indices.map { UInt32($0) * 2 + 1 } }
    }

    @Test(
        "The proxy reacts to each case as the case expects, and neither delivers nor stores a malformed response as a whole one")
    func reacts() throws {
        let runs = ConformanceCase.all.filter { !$0.needsStoppedReader }.enumerated().compactMap { Run($1, number: $0) }
        let stage = try HostileStage(
            Dictionary(uniqueKeysWithValues: runs.map { run in (run.host, { @Sendable in run.serve(&$0, $1) }) }))
        let other = try stage.client()
        var storedCount = 0
        for run in runs {
            do {
                try check(run, on: stage, other, &storedCount)
                #expect(try stage.serves(other), "\(run.test.name): another origin")
            } catch {
                Issue.record("\(run.test.name): \(error)")
            }
        }
        #expect(stage.connectionCount(HostileStage.soundHost) == 1)
        // Whole responses are stored, so that the others could have been.
        #expect(storedCount > 20)
        #expect(runs.count == 168, "a case was added or removed")
    }

    private func check(_ run: Run, on stage: HostileStage, _ other: RawClient, _ storedCount: inout Int) throws {
        let test = run.test
        var clients: [RawClient] = []
        for (number, method) in run.methods.enumerated() {
            let client = try stage.client()
            client.send(stage.head(run.host, "/\(number)", method: "\(method.name)"))
            clients.append(client)
            #expect(run.arrived[number].wait(), "\(test.name): request \(number)")
        }
        #expect(run.hasReacted.wait(), "\(test.name)")
        let result = try #require(run.result, "\(test.name)")
        #expect(result.reaction == test.expected, "\(test.name)")
        if case .connectionError = test.expected { #expect(result.hasEnded, "\(test.name): the connection goes on") }
        for (number, client) in clients.enumerated() {
            let response = try HostileStage.response(client, to: "\(run.methods[number].name)")
            let isOfCase = response.map { $0.status < 500 && $0.text != FrameServer.soundContent } ?? false
            let stream = UInt32(number) * 2 + 1
            // The head is all that a client gets of a response to HEAD, and content may follow it.
            let isHead = run.methods[number] == .head
            #expect(!isOfCase || isHead || test.permitsWhole(stream), "\(test.name): \(stream) was delivered as a whole response")
            // A 304 response to an unconditional request is none.
            let isDue = test.expected == .accepted && test.ends(stream) && !test.bytes.contains(Array("304".utf8))
            if isDue { #expect(isOfCase, "\(test.name): \(stream) was not delivered") }
        }
        stage.proxy.waitUntilStored()
        other.send(stage.head(run.host, "/0", fields: "Cache-Control: only-if-cached\r\n"))
        let isStored = try other.readResponse().status != 504
        #expect(!isStored || test.permitsWhole(1), "\(test.name): was stored")
        if isStored { storedCount += 1 }
        #expect(try stage.serves(other, run.host), "\(test.name): the next request")
        let goesOn = if case .connectionError = test.expected { false } else { !test.hasGoAway && !test.permitsNoStreams }
        if goesOn { #expect(stage.connectionCount(run.host) == 1, "\(test.name): the connection was left") }
    }
}

extension ConformanceCase {
    private var sentFrames: [Frame] { Frame.all(in: bytes) }

    fileprivate var hasGoAway: Bool { sentFrames.contains { $0.type == 7 } }

    /// MAX_CONCURRENT_STREAMS of 0 (RFC 9113 §6.5.2).
    fileprivate var permitsNoStreams: Bool { sentFrames.contains { $0.type == 4 && $0.payload == [0, 3, 0, 0, 0, 0] } }

    /// Whether the bytes end the stream properly, if nothing else is wrong with them.
    fileprivate func ends(_ stream: UInt32) -> Bool {
        sentFrames.contains { $0.stream & 0x7FFF_FFFF == stream && $0.endsStream }
    }

    /// Whether the response on the stream is well-formed and complete.
    fileprivate func permitsWhole(_ stream: UInt32) -> Bool {
        switch expected {
        case .accepted: ends(stream)
        case .streamError(let failed, _): stream != failed && ends(stream)
        case .connectionError: heads != 0 && ends(stream)
        }
    }
}
