import HTTPCaching
import HTTPMessage
import ResponseStore
import UpstreamTransport

/// What a driver holds of the exchange with the origin.
struct Fetch {
    /// Where the origin's content goes.
    enum Mode: UInt8 {
        /// Nothing is expected yet, or no longer.
        case none
        /// To the client alone.
        case direct
        /// To the client, and gathered to be stored as one piece when it is complete.
        case gathering
        /// Into a recording, and to the client what it asked for of it.
        case recording
        /// Into the store; the client reads from there.
        case pending
        /// Gathered, to be checked before anything is sent.
        case checking
        /// The check is under way.
        case checked
    }

    var mode: Mode = .none
    var upstream: OriginExchange?
    /// What the upstream has become by a 101, until it is decided.
    var switched: SwitchedConnection?
    /// The fetch that others can join.
    var entry: FetchEntry?
    var gathered: [UInt8] = []
    /// The body of a check, and what it takes of the memory for all of them.
    var checked: GatheredBody?
    var checkShare: GatheredMemory.Share?
    var pending: PendingResponse?
    /// Counts the fetches, so that a wake-up that comes too late is recognised.
    private(set) var number: UInt64 = 0
    var isUpstreamPaused = false
    /// The recording is behind: until it has caught up, the origin is not read.
    var isRecordingBehind = false
    /// The upstream at hand has been asked for the rest of a body that broke off, and has not answered.
    var isContinuing = false
    /// The rest is to be asked for when what lies in the pipe has left.
    var isContinuationDue = false
    /// The origin's content is complete while it is still being checked.
    var hasEnded = false
    var receivedCount: UInt64 = 0
    /// The client has the part that it asked for, and the store is to have the whole.
    var isForStore = false
    /// When the request went out.
    var moment = StoreEpoch.beginning

    /// The origin's answer is still under way.
    var isActive: Bool { upstream != nil || isContinuationDue }

    /// A fetch whose client has left is completed for the store when most of it has come (C14), and no other brings the rest.
    var isWorthFinishing: Bool {
        guard let pending, let length = pending.plan.length else { return false }
        return pending.isToBeKept && !pending.isOverlapped && receivedCount >= length / 5 * 4
    }

    mutating func reset() {
        mode = .none
        upstream = nil
        if let switched {
            switched.close()
            self.switched = nil
        }
        pending = nil
        number &+= 1
        isUpstreamPaused = false
        isRecordingBehind = false
        isContinuing = false
        isContinuationDue = false
        hasEnded = false
        receivedCount = 0
        isForStore = false
        checked = nil
        checkShare = nil
        if gathered.capacity > 64 * 1024 { gathered = [] } else { gathered.removeAll(keepingCapacity: true) }
    }
}
