import Testing

@testable import Reachability

@Suite("Netlink: request the whole state, then listen for changes")
struct NetlinkConversationTests {
    private static let port: UInt32 = 42

    /// Begins, and answers each request with these messages.
    private static func answer(
        _ conversation: inout NetlinkConversation, _ messages: [NetlinkMessage], interruptedAt: NetlinkRequest.Subject? = nil,
        during: [(NetlinkRequest.Subject, NetlinkMessage)] = []
    ) -> NetlinkConversation.Action {
        var action = conversation.begin()
        while case .send(let subject, let sequence) = action {
            let head = NetlinkHead(type: 0, flags: 2, sequence: sequence, port: port)
            for message in messages where message.subject == subject {
                _ = conversation.receive(head, message, isInterrupted: subject == interruptedAt)
            }
            for (moment, change) in during where moment == subject { #expect(tell(&conversation, change) == .none) }
            action = conversation.receive(head, .done, isInterrupted: subject == interruptedAt)
        }
        return action
    }

    private static func tell(_ conversation: inout NetlinkConversation, _ change: NetlinkMessage) -> NetlinkConversation.Action {
        conversation.receive(NetlinkHead(type: 0, flags: 0, sequence: 1, port: 0), change, isInterrupted: false)
    }

    private static func link(_ name: String = "v0", _ index: Int32 = 2, isRunning: Bool = true) -> NetlinkMessage {
        .link(Link(index: index, name: name, hardware: 1, making: "", isLoopback: false, isRunning: isRunning))
    }

    private static let address = NetlinkMessage.address(InterfaceAddress(family: .ipv4, link: 2, isUsable: true))

    private static let route: NetlinkMessage = {
        var route = DefaultRoute(family: .ipv4, table: 254)
        route.add(link: 2)
        return .route(route)
    }()

    private static let online = ReachabilityStatus.online(NetworkPath(interfaceName: "v0", kind: .wired))

    private static func status(_ conversation: NetlinkConversation) -> ReachabilityStatus {
        conversation.picture.status { _ in .wired }
    }

    @Test("Links, addresses and routes are requested one after another and give one picture")
    func asksInOrder() {
        var conversation = NetlinkConversation(port: Self.port)
        #expect(conversation.begin() == .send(.links, sequence: 1))
        #expect(conversation.begin() == .none)
        let head = { NetlinkHead(type: 0, flags: 2, sequence: $0, port: Self.port) }
        #expect(conversation.receive(head(1), Self.link(), isInterrupted: false) == .none)
        #expect(conversation.receive(head(1), .done, isInterrupted: false) == .send(.addresses, sequence: 2))
        #expect(conversation.receive(head(2), Self.address, isInterrupted: false) == .none)
        // An answer to an older request is ignored.
        #expect(conversation.receive(head(1), .done, isInterrupted: false) == .none)
        #expect(conversation.receive(head(2), .done, isInterrupted: false) == .send(.routes, sequence: 3))
        #expect(conversation.receive(head(3), Self.route, isInterrupted: false) == .none)
        #expect(Self.status(conversation) == .offline(.noLink))
        #expect(conversation.receive(head(3), .done, isInterrupted: false) == .tell(milliseconds: nil))
        #expect(Self.status(conversation) == Self.online)
    }

    @Test("A change that may alter the picture causes one new round of requests; any other change causes none")
    func knocks() {
        var conversation = NetlinkConversation(port: Self.port)
        #expect(Self.answer(&conversation, [Self.link(), Self.address, Self.route]) == .tell(milliseconds: nil))
        for same in [Self.link(), Self.address, Self.route, .linkGone(index: 9)] {
            #expect(Self.tell(&conversation, same) == .none)
        }
        #expect(Self.tell(&conversation, Self.link(isRunning: false)) == .beginAgain(milliseconds: 100))
        #expect(Self.tell(&conversation, Self.link(isRunning: true)) == .none)
        // The picture is kept until a new one is complete.
        #expect(Self.status(conversation) == Self.online)
        #expect(Self.answer(&conversation, [Self.link(isRunning: false)]) == .tell(milliseconds: nil))
        #expect(Self.status(conversation) == .offline(.noLink))
    }

    @Test("Lost messages cause a new round of requests, during a round and after it (ENOBUFS)")
    func loses() {
        var conversation = NetlinkConversation(port: Self.port)
        #expect(conversation.lose() == .none)
        _ = conversation.begin()
        #expect(conversation.lose() == .none)
        for sequence in 1...3 as ClosedRange<UInt32> {
            let head = NetlinkHead(type: 0, flags: 2, sequence: sequence, port: Self.port)
            let action = conversation.receive(head, .done, isInterrupted: false)
            if sequence == 3 { #expect(action == .beginAgain(milliseconds: 100)) }
        }
        #expect(Self.answer(&conversation, [Self.link()]) == .tell(milliseconds: nil))
        #expect(conversation.lose() == .beginAgain(milliseconds: 100))
    }

    @Test("A change to a part that was already answered makes the answer invalid; a change to a later part does not")
    func spoils() {
        var conversation = NetlinkConversation(port: Self.port)
        let all = [Self.link(), Self.address, Self.route]
        #expect(
            Self.answer(&conversation, all, during: [(.links, Self.route), (.links, .linkGone(index: 9))])
                == .tell(milliseconds: nil))
        conversation = NetlinkConversation(port: Self.port)
        #expect(
            Self.answer(&conversation, all, during: [(.routes, Self.link(isRunning: false))]) == .beginAgain(milliseconds: 100))
        #expect(Self.answer(&conversation, all, interruptedAt: .addresses) == .beginAgain(milliseconds: 100))
    }

    @Test("A picture that becomes invalid more often than the limit is reported, and requested once more")
    func tellsSpoilt() {
        var conversation = NetlinkConversation(port: Self.port)
        let all = [Self.link(), Self.address, Self.route]
        for _ in 0..<NetlinkConversation.spoiltLimit {
            #expect(Self.answer(&conversation, all, interruptedAt: .links) == .beginAgain(milliseconds: 100))
        }
        #expect(Self.answer(&conversation, all, interruptedAt: .links) == .tell(milliseconds: 100))
        #expect(Self.status(conversation) == Self.online)
        #expect(Self.answer(&conversation, all) == .tell(milliseconds: nil))
    }

    @Test("After a refusal the request is repeated one second later")
    func isRefused() {
        var conversation = NetlinkConversation(port: Self.port)
        _ = conversation.begin()
        let head = NetlinkHead(type: 2, flags: 0, sequence: 1, port: Self.port)
        #expect(conversation.receive(head, .failed, isInterrupted: false) == .beginAgain(milliseconds: 1000))
        #expect(conversation.begin() == .send(.links, sequence: 2))
        #expect(conversation.couldNotSend() == .beginAgain(milliseconds: 1000))
    }
}
