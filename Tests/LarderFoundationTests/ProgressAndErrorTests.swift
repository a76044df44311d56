import EventLoop
import Foundation
import LarderHTTP
import LarderFoundation
import LarderTesting
import Testing

@Suite("Foundation: progress by a closure, and sentences for errors")
struct ProgressAndErrorTests {
    private final class Steps: Sendable {
        private let steps = Guarded<[TransferProgress]>([])
        var all: [TransferProgress] { steps.withLock { $0 } }
        func add(_ step: TransferProgress) { steps.withLock { $0.append(step) } }
    }

    @Test("The closure gets the last progress before the call returns, and never a smaller value")
    func reports() async throws {
        let network = ScriptedNetwork()
        network.on(nil, "/", reply: ScriptedReply(body: [UInt8](repeating: 7, count: 5000)))
        let session = try HTTPSession(network)
        let steps = Steps()
        _ = try await session.send(SessionRequest(.get, "http://a.example/"), progress: steps.add)
        #expect(steps.all.last?.received == 5000 && steps.all.last?.fractionReceived == 1)
        let uploading = Steps()
        _ = try await session.upload(
            SessionRequest(.put, "http://a.example/"), from: .data(Data(count: 900)), progress: uploading.add)
        #expect(uploading.all.last?.sent == 900 && uploading.all.map(\.received) == uploading.all.map(\.received).sorted())
    }

    @Test("A request that cannot begin, and one that fails, end the progress")
    func endsWithTheCall() async throws {
        let network = ScriptedNetwork()
        network.on(.get, "/", reply: .refused)
        var configuration = SessionConfiguration()
        configuration.retries = .never
        let session = try HTTPSession(network, configuration: configuration)
        for (target, code) in [("no target", SessionError.Code.badURL), ("http://a.example/", .connectionRefused)] {
            await #expect(throws: SessionError(code)) {
                try await session.send(SessionRequest(.get, target), progress: { #expect(!$0.isComplete) })
            }
        }
    }

    @Test("Each error has a sentence of its own, which names the request")
    func hasSentences() async throws {
        let sentences = SessionError.Code.allCases.map { SessionError($0).localizedDescription }
        #expect(Set(sentences).count == sentences.count)
        for sentence in sentences {
            #expect(sentence.first?.isUppercase == true && sentence.hasSuffix(".") && !sentence.contains("_"), "\(sentence)")
        }
        let network = ScriptedNetwork()
        network.on(.get, "/a", reply: .status(404))
        let session = try HTTPSession(network)
        let url = try #require(URL(string: "http://a.example/a?secret"))
        let error = await #expect(throws: SessionError.self) {
            try await session.value(SessionRequest(.get, url), as: DataSerializer())
        }
        #expect(error?.localizedDescription == "The server responded with status 404 (GET http://a.example/a).")
        #expect(SessionError(.timeout).recoverySuggestion == "Try again later.")
        #expect(SessionError(.badURL, "no host").failureReason == "bad_url: no host")
    }
}
