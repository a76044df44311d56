import HTTPCaching
import ProxyPolicy
import Testing

@testable import ProxyCore

@Suite("Requests that wait for an approver")
struct ApprovalTests {
    private static let asks: [[String: Setting]] = [["match": ["host": "a.example"], "ask": [:]]]

    private func book(_ mode: ExchangeContext.Mode = .live, _ rules: [[String: Setting]] = asks) throws -> Playbook {
        Playbook(context: ExchangeContext(rules: try Setting.rules(rules), mode: mode))
    }

    private static let allowed = Playbook.Step.event { .approvalAnswered(.allowed, at: $0) }
    private static func refused(_ reason: StaticToken) -> Playbook.Step {
        .event { .approvalAnswered(.refused(reason: reason), at: $0) }
    }

    @Test("An allowed request continues as one that no rule asks about")
    func allows() throws {
        let book = try book()
        try book.run(
            .request("GET http://a.example/x"), [.askApprover],
            Self.allowed, [.lookUp(onDisk: false)],
            .found([]), [.joinFetch],
            .leads, [.fetch],
            .response(200, "Content-Length: 1"), [.releaseJoined, .relay(store: false)],
            .delivered, [.finish])
        #expect(book.written?.status == 200)
    }

    @Test("A denied request gets 403 with the reason, the rule and its words, and is not forwarded")
    func denies() throws {
        for reason in ["denied", "timeout", "queue_full"] as [StaticToken] {
            let book = try book()
            try book.run(
                .request("GET http://a.example/x"), [.askApprover], Self.refused(reason), [.sendError], .delivered, [.finish])
            let head = try #require(book.written)
            #expect(head.status == 403 && book.exchange.trace.outcome == .denied)
            let body = try JSONBody(head.body)
            #expect(body["code"] == "approval_denied" && body["detail"] == "\(reason.text)" && body["rule"] == "rule 0")
            #expect(body["reason"] == "ask: {timeout: 1m, otherwise: deny}")
            #expect(book.exchange.decidingRuleName == "rule 0")
        }
    }

    @Test("An answer counts once, and none after the client has left")
    func answersOnce() throws {
        let book = try book()
        try book.run(
            .request("GET http://a.example/x"), [.askApprover], Self.allowed, [.lookUp(onDisk: false)],
            Self.refused("denied"), [], Self.allowed, [])
        let left = try self.book()
        try left.run(
            .request("GET http://a.example/x"), [.askApprover], .clientGone, [.cancelUpstream, .finish], Self.allowed, [])
    }

    @Test("If other rules deny the request meanwhile, their denial is the response")
    func isOverruled() throws {
        let book = try book()
        try book.run(.request("GET http://a.example/x"), [.askApprover])
        let later = ExchangeContext(rules: try Setting.rules([["deny": [:]]]))
        #expect(book.exchange.fault(under: later) == .deniedByRule)
        #expect(book.exchange.fault(under: book.exchange.context) == nil)
        try book.run(.event { .approvalAnswered(.overruled(.deniedByRule), at: $0) }, [.sendError], .delivered, [.finish])
        #expect(try JSONBody(try #require(book.written).body)["code"] == "denied_by_rule")
    }

    @Test("A mode that forwards nothing asks nothing", arguments: [ExchangeContext.Mode.offline, .replay])
    func closedModes(mode: ExchangeContext.Mode) throws {
        let book = try book(mode)
        try book.run(.request("GET http://a.example/x"), [mode == .replay ? .lookUpRecording : .lookUp(onDisk: false)])
    }

    @Test("Mode record_missing asks only about a request that is not recorded")
    func recordMissing() throws {
        let book = try book(.recordMissing)
        try book.run(
            .request("GET http://a.example/x"), [.lookUpRecording],
            .event { .recordingLookedUp(.missed(reason: "not_recorded", nearest: nil), at: $0) }, [.askApprover],
            Self.allowed, [.beginRecording, .fetch])
    }

    @Test("A request is counted under limits before an approver is asked")
    func countsFirst() throws {
        let book = try book(.live, Self.asks + [["limit": ["rate": "1/s"]]])
        try book.run(
            .request("GET http://a.example/x"), [.countRequest],
            .event { .requestCounted(nil, at: $0) }, [.askApprover])
    }

    @Test("A tunnel is held only if it is not intercepted")
    func tunnels() throws {
        let book = try book()
        try book.run(.request("CONNECT a.example:443"), [.openTunnel])
        #expect(book.exchange.needsApproval && book.exchange.tunnelFault == .approvalDenied(reason: "tunnel"))
        try book.run(.event { .tunnelHeld(at: $0) }, [.askApprover], Self.allowed, [.openTunnel])
        #expect(!book.exchange.needsApproval && book.exchange.tunnelFault == nil)
        try book.run(.tunnelOpened, [.splice], .delivered, [.finish])
    }
}
