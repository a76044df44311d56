import EventLoop
import HTTPCaching
import Recordings
import ResponseStore
import ServerTrust
import UpstreamTransport

/// The body that a driver is sending to its client, wherever it comes from.
struct BodyDelivery {
    /// `parts` is a body in memory of which several parts are sent.
    enum Source: UInt8 { case none, origin, memory, parts, disk, pending }

    /// A piece of a body of which some comes from the store and some from the origin.
    struct Segment {
        let source: Source
        let range: Range<UInt64>
    }

    var source: Source = .none
    /// Chunk framing is wrapped around it (RFC 9112 §7.1).
    var isChunked = false
    /// The next byte to send and the one behind the last; `end` is the greatest number where the length is not known.
    var offset: UInt64 = 0
    var end: UInt64 = .max
    var body: BodyReference?
    /// The body of which parts are sent, where it is in memory, and how many parts have been begun.
    var bytes: [UInt8] = []
    var begunPartCount = 0
    /// Where `body` stands instead of in the store.
    var recorded: RecordedBodyPlace?
    /// What the log says of the recording that is the answer.
    var recordingMember: [UInt8] = []
    /// Keeps the body from being evicted while it is sent.
    var hold: BodyHold?
    var reader: PendingReader?
    /// Where in the body the pending response begins, and what is to be sent after the segment at hand.
    var readerStart: UInt64 = 0
    var segments: [Segment] = []
    var isWaiting = false
    var read: Reply<BodyReadResult>?
    /// A piece read from the disk ahead of its turn.
    var readAhead: (bytes: [UInt8], range: Range<Int>)?
    /// A body that was gathered, from which it is delivered; what was read of a pending response to the end, to have something made of it, where that failed.
    var whole: GatheredBody?
    /// Of a body that was checked, or gathered to have something made of it.
    var checkShare: GatheredMemory.Share?
    /// What was sent: bytes of content, and of heads.
    var sentCount: UInt64 = 0
    var headCount: UInt64 = 0
    /// Through which a diverted body passes.
    var pipe: Pipe?
    var tunnelDescriptor: Int32?
    /// By whose settings that was opened.
    var tunnelOpener: Transport?
    /// A tunnel that is to be entered.
    var isEntered = false
    /// What CONNECT got, where the request was one.
    var connectOutcome: ConnectOutcome?
    /// Why what is in the tunnel passes unseen, though its host is to be intercepted.
    var uninspected: UninspectedReason?
    /// As whom the server of a tunnel to an address was judged.
    var judgedName: String?
    /// Of the server that was judged for this request (`OriginExchange.judgedChain`).
    var judgedChain: [Certificate] = []

    mutating func reset() {
        source = .none
        isChunked = false
        offset = 0
        end = .max
        // Asked first: to let go of nothing is a call each time.
        if body != nil { body = nil }
        if recorded != nil { recorded = nil }
        if !recordingMember.isEmpty { recordingMember = [] }
        if !bytes.isEmpty { bytes = [] }
        begunPartCount = 0
        if hold != nil { hold = nil }
        if reader != nil { reader = nil }
        readerStart = 0
        if !segments.isEmpty { segments = [] }
        isWaiting = false
        if read != nil { read = nil }
        if readAhead != nil { readAhead = nil }
        if whole != nil { whole = nil }
        if checkShare != nil { checkShare = nil }
        sentCount = 0
        headCount = 0
        if pipe != nil { pipe = nil }
        if connectOutcome != nil || isEntered { resetTunnel() }
        if !judgedChain.isEmpty { judgedChain = [] }
    }

    private mutating func resetTunnel() {
        tunnelDescriptor = nil
        tunnelOpener = nil
        connectOutcome = nil
        isEntered = false
        uninspected = nil
        judgedName = nil
    }
}
