/// The state machine of the netlink protocol: which request to send and when, and what the replies say about the network.
/// It does no I/O: `NetworkWatch` performs its actions.
///
/// `picture` is always computed from one complete set of replies. A notification does not change it; it only triggers new
/// requests. The kernel does not report the IPv4 routes that disappear with a link or an address. A list that is updated only
/// from notifications would therefore keep routes that no longer exist.
///
/// States: *due* (the next requests are sent now or after a pause) → *asking* for links, then addresses, then routes → *resting*, until a
/// notification that may change `picture` leads to *due* again. If a notification arrives about something that the kernel has already
/// reported, or a message is lost, the replies are inconsistent (`isSpoilt`). The requests are then repeated, at most `spoiltLimit` times;
/// after that the replies are used anyway.
struct NetlinkConversation {
    enum Action: Equatable {
        case none
        case send(NetlinkRequest.Subject, sequence: UInt32)
        /// Call `begin` this many milliseconds after the last call of `begin`; at once if that time has passed.
        case beginAgain(milliseconds: Int)
        /// There is a new picture. If the picture is spoilt, call `begin` this many milliseconds after the last call of
        /// `begin`. The value is `nil` if the picture is not spoilt.
        case tell(milliseconds: Int?)
    }

    private enum State: Equatable {
        case due
        case asking(NetlinkRequest.Subject)
        case resting
    }

    /// The pause between two rounds of requests, in milliseconds, so that constant changes cause only a limited number of
    /// rounds in a second.
    static let pause = 100
    /// The pause after the kernel refused a request, in milliseconds.
    static let pauseAfterFailure = 1000
    /// How many spoilt pictures in a row are discarded at most.
    static let spoiltLimit = 3

    private(set) var picture = NetworkPicture()
    private var coming = NetworkPicture()
    private var state = State.due
    private var sequence: UInt32 = 0
    /// Whether the first message of the current answer has arrived.
    private var hasAnswerBegun = false
    private var isSpoilt = false
    private var spoiltCount = 0
    /// The port of our socket, see `NetlinkSocket.port`.
    private let port: UInt32

    init(port: UInt32) { self.port = port }

    mutating func begin() -> Action {
        guard state == .due else { return .none }
        coming = NetworkPicture()
        isSpoilt = false
        return ask(.links)
    }

    /// The kernel did not accept the request.
    mutating func couldNotSend() -> Action {
        state = .due
        return .beginAgain(milliseconds: Self.pauseAfterFailure)
    }

    mutating func receive(_ head: NetlinkHead, _ message: NetlinkMessage, isInterrupted: Bool) -> Action {
        guard head.port == port else { return receive(change: message) }
        guard case .asking(let subject) = state, head.sequence == sequence else { return .none }
        hasAnswerBegun = true
        if isInterrupted { isSpoilt = true }
        switch message {
        case .done:
            guard let next = subject.next else { return finish() }
            return ask(next)
        case .failed: return couldNotSend()
        case .malformed: isSpoilt = true
        case .link, .address, .route, .linkGone, .addressGone, .routeGone, .nextHopChanged: coming.add(message)
        }
        return .none
    }

    /// A message from the kernel was lost.
    mutating func lose() -> Action {
        switch state {
        case .due: return .none
        case .asking:
            isSpoilt = true
            return .none
        case .resting: return beDue()
        }
    }

    // MARK: Parts

    private mutating func receive(change: NetlinkMessage) -> Action {
        switch state {
        case .due: return .none
        case .resting: return picture.mayBeAltered(by: change) ? beDue() : .none
        case .asking(let subject):
            // A change that was reported before the first message of an answer is included in that answer.
            guard let changed = change.subject, changed < subject || changed == subject && hasAnswerBegun else { return .none }
            if coming.mayBeAltered(by: change) { isSpoilt = true }
            return .none
        }
    }

    private mutating func ask(_ subject: NetlinkRequest.Subject) -> Action {
        state = .asking(subject)
        sequence &+= 1
        hasAnswerBegun = false
        return .send(subject, sequence: sequence)
    }

    private mutating func beDue() -> Action {
        state = .due
        return .beginAgain(milliseconds: Self.pause)
    }

    private mutating func finish() -> Action {
        if isSpoilt, spoiltCount < Self.spoiltLimit {
            spoiltCount += 1
            return beDue()
        }
        spoiltCount = 0
        picture = coming
        coming = NetworkPicture()
        state = isSpoilt ? .due : .resting
        return .tell(milliseconds: isSpoilt ? Self.pause : nil)
    }
}
