import CLarderLinux
import Glibc

/// Is called once, at the end of the batch in which it was registered with `atEndOfBatch`. It can flush the output of that batch.
package protocol BatchHandler: AnyObject {
    func batchEnded()
}

/// Waits for descriptors, deadlines and messages on one thread.
///
/// Confined to the thread that calls `run`: the loop is created before `run`, used on that thread, and released after `run`. Other threads
/// use a `LoopHandle`. The loop's state is not checked for exclusive access at run time, which would cost a hundred instructions per use.
/// Only one thread uses it, and no handler is called or released while a table changes.
///
/// One turn: wait, read the clock, report ready descriptors, report due timers, run the work deferred to the end of the batch. A newcomer
/// is a descriptor of a new connection, until `admit`. A turn reports only a few newcomers, in order of arrival and after all other
/// descriptors. So existing connections wait only for these few, even if many newcomers arrive at once.
package final class EventLoop {
    private let epoll: Epoll
    @exclusivity(unchecked) private var slots: [DescriptorSlot] = []
    @exclusivity(unchecked) private var timers = TimerQueue()
    /// The tokens of newcomers that are ready and not yet reported.
    @exclusivity(unchecked) private var newcomers = WaitingQueue<UInt64>()
    private let mailbox: Mailbox
    private var mailboxHandler: MailboxHandler?
    private var pendingReplies: [UInt64: PendingReply] = [:]
    private var nextReplyNumber: UInt64 = 1
    @exclusivity(unchecked) private var putOff: [any BatchHandler] = []
    @exclusivity(unchecked) private var puttingOff: [any BatchHandler] = []
    @exclusivity(unchecked) private var isStopped = false
    @exclusivity(unchecked) private var batchTime: MonotonicTime
    @exclusivity(unchecked) private var cachedWallClock: Int64 = 0
    private var clockAdvance = MonotonicTime(nanoseconds: 0)
    private var wallClockAdvance: Int64 = 0

    /// The server that runs on this loop, for messages from other threads that concern it.
    package var owner: AnyObject?

    /// The time at which the current batch began.
    package var now: MonotonicTime { batchTime }
    /// The number of batches so far.
    @exclusivity(unchecked) package private(set) var batchCount: UInt64 = 0

    package init() throws(SystemError) {
        epoll = try Epoll()
        mailbox = try Mailbox()
        batchTime = .read()
        let handler = MailboxHandler(self)
        mailboxHandler = handler
        _ = try register(mailbox.descriptor, [.read, .edgeTriggered], handler: handler)
    }

    deinit { mailbox.close() }

    package var handle: LoopHandle { LoopHandle(mailbox: mailbox) }

    /// Wall-clock time in milliseconds since 1970, read at most once per batch.
    package var wallClockMilliseconds: Int64 {
        if cachedWallClock == 0 { readWallClock() }
        return cachedWallClock
    }

    /// Not inlined, so that callers need no stack space for the time.
    @inline(never)
    private func readWallClock() {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        cachedWallClock = Int64(time.tv_sec) &* 1000 &+ Int64(time.tv_nsec) / 1_000_000 &+ wallClockAdvance
    }

    /// Runs turns until `stop`.
    package func run() {
        isStopped = false
        while !isStopped { turn(waitingAtMost: -1) }
    }

    package func stop() { isStopped = true }

    /// Runs one turn, waiting at most this many milliseconds (-1: without limit).
    package func turn(waitingAtMost limit: Int32) {
        let count = epoll.wait(milliseconds: timeout(limit))
        batchTime = clock()
        cachedWallClock = 0
        batchCount &+= 1
        var index = 0
        while index < count {
            let token = epoll.token(at: index)
            let descriptor = Int(truncatingIfNeeded: token & 0xFFFF_FFFF)
            // A descriptor that was removed earlier in this batch, and perhaps reused for another connection, has a new generation; its old
            // event is dropped.
            if slots[descriptor].generation == UInt32(truncatingIfNeeded: token >> 32), let handler = slots[descriptor].handler {
                if slots[descriptor].isNewcomer {
                    wait(for: token, descriptor, epoll.ready(at: index))
                } else {
                    handler.ready(epoll.ready(at: index))
                }
            }
            index += 1
        }
        if !newcomers.isEmpty { reportNewcomers() }
        if timers.nextMoment <= now { reportDueTimers() }
        if !putOff.isEmpty { doPutOffWork() }
    }

    // MARK: Newcomers

    /// The maximum number of newcomers reported in a turn.
    private static let newcomersInTurn = 4

    @inline(never)
    private func wait(for token: UInt64, _ descriptor: Int, _ events: ReadyEvents) {
        if slots[descriptor].awaited.isEmpty { newcomers.append(token) }
        slots[descriptor].awaited.formUnion(events)
    }

    @inline(never)
    private func reportNewcomers() {
        var left = Self.newcomersInTurn
        while left > 0, let token = newcomers.popFirst() {
            let descriptor = Int(truncatingIfNeeded: token & 0xFFFF_FFFF)
            guard slots[descriptor].generation == UInt32(truncatingIfNeeded: token >> 32), let handler = slots[descriptor].handler
            else { continue }
            let events = slots[descriptor].awaited
            slots[descriptor].awaited = ReadyEvents()
            handler.ready(slots[descriptor].interest.contains(.peerClose) ? events : events.subtracting(.peerClosed))
            left -= 1
            // The kernel reports each event of a newcomer once. If the peer has closed the connection, `admit` makes the kernel report the
            // close again, after the handler has read the data.
            let registration = Registration(descriptor: Int32(descriptor), generation: UInt32(truncatingIfNeeded: token >> 32))
            if events.contains(.peerClosed), slots[descriptor].generation == registration.generation { admit(registration) }
        }
    }

    /// Ends the treatment of a descriptor as a newcomer: from now on it is reported in every turn in which it is ready.
    package func admit(_ registration: Registration) {
        let index = Int(registration.descriptor)
        precondition(slots[index].generation == registration.generation, "the registration has ended")
        guard slots[index].isNewcomer else { return }
        slots[index].isNewcomer = false
        epoll.modify(registration.descriptor, slots[index].interest, token: Self.token(of: registration))
    }

    // MARK: Descriptors

    /// Watches a descriptor. The caller still owns it and closes it after `deregister`.
    ///
    /// - Parameter isNewcomer: whether the descriptor is of a new connection. Until `admit`, it is reported after all others, and
    ///   edge-triggered. The handler must read all available data or call `admit`.
    package func register(
        _ descriptor: Int32, _ interest: Interest, handler: any EventHandler, isNewcomer: Bool = false
    ) throws(SystemError) -> Registration {
        let index = Int(descriptor)
        while slots.count <= index { slots.append(DescriptorSlot()) }
        precondition(slots[index].handler == nil, "the descriptor is registered already")
        let registration = Registration(descriptor: descriptor, generation: slots[index].generation)
        try epoll.add(descriptor, isNewcomer ? interest.ofNewcomer : interest, token: Self.token(of: registration))
        slots[index].handler = handler
        slots[index].isNewcomer = isNewcomer
        slots[index].awaited = ReadyEvents()
        slots[index].interest = interest
        return registration
    }

    /// Changes the events that the loop waits for on a descriptor; calls the kernel only if they differ from the former ones.
    package func modify(_ registration: Registration, _ interest: Interest) {
        let index = Int(registration.descriptor)
        precondition(slots[index].generation == registration.generation, "the registration has ended")
        if slots[index].interest == interest { return }
        slots[index].interest = interest
        let watched = slots[index].isNewcomer ? interest.ofNewcomer : interest
        epoll.modify(registration.descriptor, watched, token: Self.token(of: registration))
    }

    /// Assigns the descriptor to another handler (for a connection that was upgraded or taken from a pool).
    package func setHandler(_ handler: any EventHandler, of registration: Registration) {
        let index = Int(registration.descriptor)
        precondition(slots[index].generation == registration.generation, "the registration has ended")
        exchangeHandler(of: index, for: handler)
    }

    /// Stops watching and releases the handler. Pending events of this batch are dropped.
    package func deregister(_ registration: Registration) {
        let index = Int(registration.descriptor)
        precondition(slots[index].generation == registration.generation, "the registration has ended")
        epoll.remove(registration.descriptor)
        slots[index].generation &+= 1
        exchangeHandler(of: index, for: nil)
    }

    /// Stops watching and closes the descriptor. The descriptor must have no duplicate: with one, the kernel would keep watching it.
    package func close(_ registration: Registration) {
        let index = Int(registration.descriptor)
        precondition(slots[index].generation == registration.generation, "the registration has ended")
        _ = Glibc.close(registration.descriptor)
        slots[index].generation &+= 1
        exchangeHandler(of: index, for: nil)
    }

    private func exchangeHandler(of index: Int, for handler: (any EventHandler)?) {
        // The former handler is released here, outside the table: its deinit may use the table.
        let former = slots[index].handler
        slots[index].handler = handler
        withExtendedLifetime(former) {}
    }

    /// The number of watched descriptors, without the loop's own mailbox. For tests and statistics.
    package var registrationCount: Int { slots.count { $0.handler != nil } - 1 }

    // MARK: Timers

    package func makeTimer(_ handler: any TimerHandler) -> TimerID { timers.make(handler) }

    package func removeTimer(_ timer: TimerID) {
        // The handler is released here, outside the queue: its deinit may use the queue.
        let handler = timers.remove(timer)
        withExtendedLifetime(handler) {}
    }

    /// Sets or moves a deadline. Moving a deadline to a later time costs one memory write.
    package func setTimer(_ timer: TimerID, at deadline: MonotonicTime) {
        timers.set(timer, at: deadline)
    }

    package func setTimer(_ timer: TimerID, afterMilliseconds milliseconds: Int) {
        setTimer(timer, at: now.advanced(milliseconds: milliseconds))
    }

    package func cancelTimer(_ timer: TimerID) { timers.set(timer, at: .never) }

    package var timerCount: Int { timers.count }

    /// Moves this loop's clock ahead, for tests of deadlines. Takes effect with the next turn.
    package func advanceClock(milliseconds: Int) { clockAdvance = clockAdvance.advanced(milliseconds: milliseconds) }

    /// Moves this loop's wall clock ahead, for tests of ages. Takes effect at once.
    package func advanceWallClock(milliseconds: Int64) {
        wallClockAdvance += milliseconds
        cachedWallClock = 0
    }

    private func clock() -> MonotonicTime {
        MonotonicTime(nanoseconds: MonotonicTime.read().nanoseconds &+ clockAdvance.nanoseconds)
    }

    // MARK: Work at the end of the batch

    /// Calls the handler once at the end of the current batch (or of the next one, if handlers are already being called).
    package func atEndOfBatch(_ handler: any BatchHandler) { putOff.append(handler) }

    // MARK: Replies

    /// Creates a reply that brings one value back to this loop. `handler` runs on the loop.
    package func reply<Value: Sendable>(_ handler: @escaping (Value) -> Void) -> Reply<Value> {
        let number = nextReplyNumber
        nextReplyNumber += 1
        pendingReplies[number] = PendingReplyOf(handler)
        return Reply(mailbox: mailbox, number: number)
    }

    /// Releases the handler of a reply; a value that arrives later is dropped.
    package func forget<Value: Sendable>(_ reply: Reply<Value>) { pendingReplies[reply.number] = nil }

    /// Releases all handlers of replies and ports; values that arrive later are dropped.
    package func forgetReplies() { pendingReplies = [:] }

    func deliver<Value: Sendable>(_ value: Value, to number: UInt64) {
        guard let pending = pendingReplies.removeValue(forKey: number) else { return }
        unsafeDowncast(pending, to: PendingReplyOf<Value>.self).handler(value)
    }

    // MARK: Ports

    /// Opens a port to this loop for any number of messages. `handler` runs on the loop, and is kept until `close`.
    package func port<Value: Sendable>(_ handler: @escaping (Value) -> Void) -> Port<Value> {
        let number = nextReplyNumber
        nextReplyNumber += 1
        pendingReplies[number] = PendingReplyOf(handler)
        return Port(mailbox: mailbox, number: number)
    }

    package func close<Value: Sendable>(_ port: Port<Value>) { pendingReplies[port.number] = nil }

    func deliver<Value: Sendable>(_ value: Value, toPort number: UInt64) {
        guard let pending = pendingReplies[number] else { return }
        unsafeDowncast(pending, to: PendingReplyOf<Value>.self).handler(value)
    }

    // MARK: Steps of a turn

    fileprivate func collectMessages() {
        for message in mailbox.collect() { message(self) }
    }

    private func timeout(_ limit: Int32) -> Int32 {
        if !putOff.isEmpty || !newcomers.isEmpty { return 0 }
        let moment = timers.nextMoment
        if moment == .never { return limit }
        let current = clock()
        if moment <= current { return 0 }
        // The wait is rounded up, so that the timer is due when it ends.
        let milliseconds = (moment.nanoseconds - current.nanoseconds + 999_999) / 1_000_000
        let wait = Int32(truncatingIfNeeded: min(milliseconds, 86_400_000))
        return limit < 0 ? wait : min(limit, wait)
    }

    private func reportDueTimers() {
        // Reports at most as many deadlines as there are timers, because a handler that sets a deadline in the past must not block the
        // loop.
        var left = timers.count
        while left > 0, let due = timers.takeDue(at: now) {
            due.handler.deadlinePassed(due.id)
            left -= 1
        }
    }

    private func doPutOffWork() {
        swap(&putOff, &puttingOff)
        for handler in puttingOff { handler.batchEnded() }
        puttingOff.removeAll(keepingCapacity: true)
    }

    private static func token(of registration: Registration) -> UInt64 {
        UInt64(registration.generation) << 32 | UInt64(UInt32(bitPattern: registration.descriptor))
    }
}

private struct DescriptorSlot {
    var handler: (any EventHandler)?
    var generation: UInt32 = 0
    var interest = Interest()
    var isNewcomer = false
    /// The pending events of a newcomer that has not been reported yet.
    var awaited = ReadyEvents()
}

/// Forwards the mailbox's wake-up to the loop, which owns it.
private final class MailboxHandler: EventHandler {
    private unowned let loop: EventLoop
    init(_ loop: EventLoop) { self.loop = loop }
    func ready(_ events: ReadyEvents) { loop.collectMessages() }
}
