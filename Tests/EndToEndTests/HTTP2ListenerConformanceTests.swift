import HTTP2Wire
import TestSupport
import Testing

@Suite("Conformance of listeners over sockets (RFC 9113 §3 to §8, RFC 7541)")
struct HTTP2ListenerConformanceTests {
    @Test(
        "The proxy reacts to each case as the case expects, forwards no malformed request, and goes on",
        arguments: ConformanceStage.Way.allCases)
    func reacts(way: ConformanceStage.Way) throws {
        let cases = ConformanceCase.all.filter { test in
            test.isOfClient && !test.needsSessionAlone && !(test.isInHTTP1 && way == .plainListener)
        }
        // Each group has a proxy of its own, so that a late request cannot be another case's.
        for isEmpty in [true, false] {
            let stage = try ConformanceStage(way)
            let other = try stage.client()
            var (headCount, wholeCount) = (0, 0)
            for test in cases where (test.headLimit == 0) == isEmpty {
                do {
                    try check(test, on: stage)
                    #expect(try stage.serves(other), "\(test.name): another client")
                } catch {
                    Issue.record("\(test.name): \(error)")
                }
                headCount += test.headLimit
                wholeCount += test.wholeLimit
                #expect(stage.forwardedCount <= headCount && stage.completedCount <= wholeCount, "\(test.name)")
            }
            stage.stop()
            #expect(stage.forwardedCount <= headCount && stage.completedCount <= wholeCount)
            #expect(isEmpty || stage.completedCount > 0)
        }
        #expect(cases.count == (way == .plainListener ? 211 : 213), "a case was added or removed")
    }

    private func check(_ test: ConformanceCase, on stage: ConformanceStage) throws {
        let client = try stage.frameClient()
        if !test.startsWithPreface { try client.begin() }
        let reaction = try client.react(to: test.bytes)
        #expect(reaction == test.expected, "\(test.name)")
        switch test.expected {
        case .connectionError:
            #expect(client.hasEnded && client.frames.last?.type == 7, "\(test.name): GOAWAY is not the last frame")
        case .streamError(let stream, _):
            let answers = client.frames.filter { $0.stream == stream && $0.type <= 1 }
            #expect(answers.isEmpty, "\(test.name): a malformed request was answered")
            try checkNextStream(of: client, test)
        case .accepted:
            // A connection whose client has sent GOAWAY may be closed.
            if test.hasGoAway { return }
            for stream in test.answeredStreams { try client.readEnd(of: stream) }
            try checkNextStream(of: client, test)
        }
    }

    private func checkNextStream(of client: FrameClient, _ test: ConformanceCase) throws {
        let next = try client.fetch(ConformanceStage.soundPath, on: 301)
        #expect(next.isOK && next.content == "answer to \(ConformanceStage.soundPath)", "\(test.name): the next stream")
    }
}

extension ConformanceCase {
    /// Whether the bytes are those of a client.
    fileprivate var isOfClient: Bool {
        switch start {
        case .server, .serverReady, .serverReadyForExtendedConnect: true
        case .client, .clientReady: false
        }
    }

    /// The proxy always announces extended CONNECT.
    fileprivate var needsSessionAlone: Bool {
        needsStoppedReader || sentence == "Extended CONNECT that was not announced is malformed"
    }

    fileprivate var startsWithPreface: Bool { if case .server = start { true } else { false } }

    /// A plain listener serves such bytes in HTTP/1.1.
    fileprivate var isInHTTP1: Bool { startsWithPreface && !bytes.starts(with: Frame.preface) }

    private var sentFrames: [Frame] { startsWithPreface ? [] : Frame.all(in: bytes) }

    fileprivate var hasGoAway: Bool { sentFrames.contains { $0.type == 7 } }

    /// How many requests the origin may get, whole or not.
    fileprivate var headLimit: Int { heads ?? sentFrames.count { $0.type == 1 } }

    /// How many requests the origin may get as a whole.
    fileprivate var wholeLimit: Int {
        switch expected {
        case .accepted, .connectionError: headLimit
        case .streamError(let stream, _): sentFrames.count { $0.type == 1 && $0.endsStream && $0.stream != stream }
        }
    }

    /// The streams of the requests that are complete, and are not reset.
    fileprivate var answeredStreams: [UInt32] {
        let frames = sentFrames
        if bytes.contains(Array("CONNECT".utf8)) { return [] }
        let ended = frames.filter { $0.type == 1 && $0.endsStream }.map { $0.stream & 0x7FFF_FFFF }.prefix(headLimit)
        return ended.filter { stream in !frames.contains { $0.type == 3 && $0.stream == stream } }
    }
}
