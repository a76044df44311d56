import EventLoop
import HTTPCaching
import ResponseStore

/// What a driver holds of content that is being made.
struct Transforming {
    /// What it makes for all who want the same, until the work has been handed over.
    var leads: TransformCache.Lead?
    /// The work that has been handed over: for how long it is worth being done, and for whom besides.
    var work: (patience: WorkPatience, lead: TransformCache.Lead?)?
    var waiting: Reply<TransformCache.Made>?
    /// The stored body, as far as it has been read.
    var gathered: GatheredBody?
    /// How much that was, where what was read from can be read but once.
    var readLength: UInt64?
    /// What of it is a copy.
    var share: GatheredMemory.Share?
    var hold: BodyHold?
    /// Runs from when the body is there.
    var timer: TimerID?
    /// Counts what was begun, so that an answer that comes too late is recognised.
    private(set) var number: UInt64 = 0

    mutating func reset() {
        number &+= 1
        leads = nil
        work = nil
        waiting = nil
        gathered = nil
        readLength = nil
        share = nil
        hold = nil
    }
}
