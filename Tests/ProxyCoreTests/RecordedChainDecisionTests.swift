import HTTPCaching
import HTTPMessage
import ProxyPolicy
import Testing

@testable import ProxyCore

@Suite("Stored responses from another trust policy, while the origin fails")
struct RecordedChainDecisionTests {
    private func book() throws -> Playbook {
        Playbook(
            context: ExchangeContext(
                rules: try Setting.rules([]), activeTrust: { _, _, _ in ActiveTrust(mark: 4, until: .init(milliseconds: .max)) }
            ))
    }

    private func stored(_ fields: String..., hasChain: Bool = true) throws -> StoredResponse {
        try Messages.stored(fields[0], "ETag: \"v1\"", age: 5).withTrust(
            policyMark: 12, chain: hasChain ? RecordedChain([1]) : nil)
    }

    private static func judged(_ judgement: ChainJudgement) -> Playbook.Step {
        .event { .recordedChainJudged(judgement, at: $0) }
    }

    private static let refusal = TrustRefusal(reason: "pin_mismatch", host: "a.example", source: "", advice: "Do this.")

    @Test("After the origin fails, the recorded chain is verified and decides whether the response is used")
    func judges() throws {
        let response = try stored("Cache-Control: max-age=60")
        for judgement in [ChainJudgement.accepted, .refused(Self.refusal), .unjudged] {
            let book = try book()
            let isAccepted = if case .accepted = judgement { true } else { false }
            try book.run(
                .request("GET https://a.example/x"), [.lookUp(onDisk: false)], .found([response]), [.joinFetch], .leads, [.fetch],
                .fails(.connectionRefused), [.judgeRecordedChain], Self.judged(judgement),
                isAccepted ? [.releaseJoined, .sendStored] : [.releaseJoined, .sendError], .delivered, [.finish])
            #expect(book.exchange.trace.status == (isAccepted ? 200 : 504))
            switch judgement {
            case .accepted: #expect("\(book.exchange.trace.reuse?.word ?? "")" == "recorded_chain")
            case .refused: #expect(book.exchange.trace.fault == .recordedChainRefused(reason: "pin_mismatch"))
            case .unjudged: #expect(book.exchange.trace.fault == .connectionRefused)
            }
        }
    }

    @Test(
        "No chain is verified after an origin's response, for an untrusted server, without a chain, or for a response that cannot be used"
    )
    func doesNotJudge() throws {
        for (response, fault) in [
            (try stored("Cache-Control: max-age=60", hasChain: false), Fault.connectionRefused),
            (try stored("Cache-Control: max-age=60"), .untrustedServer(reason: "expired")),
            // It could not be used in any case.
            (try stored("Cache-Control: no-cache"), .connectionRefused),
            (try stored("Cache-Control: max-age=0, must-revalidate"), .connectionRefused),
        ] {
            let book = try book()
            try book.run(
                .request("GET https://a.example/x"), [.lookUp(onDisk: false)], .found([response]), [.joinFetch], .leads, [.fetch],
                .fails(fault), [.releaseJoined, .sendError], .delivered, [.finish])
            #expect(book.exchange.trace.fault == fault)
        }
        let book = try book()
        try book.run(
            .request("GET https://a.example/x"), [.lookUp(onDisk: false)], .found([try stored("Cache-Control: max-age=60")]),
            [.joinFetch], .leads, [.fetch], .response(503, "Content-Length: 0"), [.releaseJoined, .relay(store: false)],
            .delivered,
            [.finish])
    }

    @Test("A client that leaves meanwhile ends the exchange, and the later verdict is ignored")
    func clientLeaves() throws {
        let book = try book()
        try book.run(
            .request("GET https://a.example/x", "Cache-Control: only-if-cached"), [.lookUp(onDisk: false)],
            .found([try stored("Cache-Control: max-age=60")]), [.judgeRecordedChain], .clientGone, [.cancelUpstream, .finish],
            Self.judged(.accepted), [])
    }

    @Test("An untrusted server does not allow a stale response, an unreachable one does (RFC 5861 §4)")
    func staleIfError() throws {
        for (fault, isServed) in [(Fault.connectionRefused, true), (.untrustedServer(reason: "expired"), false)] {
            let book = try book()
            let response = try Messages.stored("Cache-Control: max-age=1, stale-if-error=600", "ETag: \"v1\"", age: 5)
                .withTrust(policyMark: 4, chain: nil)
            try book.run(
                .request("GET https://a.example/x"), [.lookUp(onDisk: false)], .found([response]), [.joinFetch], .leads, [.fetch],
                .fails(fault), [.releaseJoined, isServed ? .sendStored : .sendError], .delivered, [.finish])
        }
    }
}
