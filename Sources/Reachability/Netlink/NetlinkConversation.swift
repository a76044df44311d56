/// What is asked of the kernel, when, and what is made of its answers. A value: `NetworkWatch` carries out what it says.
///
/// The picture is always one that the kernel has given as a whole. What the kernel tells of a change is not entered into it: it is a knock, and has
/// the kernel asked anew. It says nothing of the IPv4 routes that go with a link or an address, so that a picture that only followed what is said
/// would keep routes that are gone.
///
/// States: *due* (the kernel is to be asked, now or after a pause) → *asking* for links, then addresses, then routes → *resting*, until a knock
/// that may alter the picture makes it due again. A change of what has been answered already, and whatever is lost, spoils the asking: it is done
/// again, so many times before what came is taken for the picture all the same.
struct NetlinkConversation {
    enum Action: Equatable {
        case none
        case send(NetlinkRequest.Subject, sequence: UInt32)
        /// Calls `begin` so many milliseconds after the last time that it began: at once where that has passed.
        case beginAgain(milliseconds: Int)
        /// The picture is a new one. Where it was spoilt, `begin` is called after the pause.
        case tell(milliseconds: Int?)
    }

    private enum State: Equatable {
        case due
        case asking(NetlinkRequest.Subject)
        case resting
    }

    /// Between two askings: what changes all the time costs no more than this many a second.
    static let pause = 100
    /// After the kernel has refused.
    static let pauseAfterFailure = 1000
    /// How often in a row a spoilt picture is dropped.
    static let spoiltLimit = 3

    private(set) var picture = NetworkPicture()
    private var coming = NetworkPicture()
    private var state = State.due
    private var sequence: UInt32 = 0
    /// Some of the answer at hand has come.
    private var hasAnswerBegun = false
    private var isSpoilt = false
    private var spoiltCount = 0
    /// Our socket's name, see `NetlinkSocket.port`.
    private let port: UInt32

    init(port: UInt32) { self.port = port }

    mutating func begin() -> Action {
        guard state == .due else { return .none }
        coming = NetworkPicture()
        isSpoilt = false
        return ask(.links)
    }

    /// The kernel would not take the request.
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

    /// Something that the kernel said did not arrive.
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
            // What came before the first piece of an answer is in that answer.
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
