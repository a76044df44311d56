import CLarderLinux
import Glibc
import Testing

@testable import EventLoop

/// A handler that runs a closure.
final class ClosureHandler: EventHandler, TimerHandler, BatchHandler {
    var onReady: (ReadyEvents) -> Void = { _ in }
    var onDeadline: (TimerID) -> Void = { _ in }
    var onBatchEnd: () -> Void = {}
    func ready(_ events: ReadyEvents) { onReady(events) }
    func deadlinePassed(_ timer: TimerID) { onDeadline(timer) }
    func batchEnded() { onBatchEnd() }
}

func makeSocketPair() throws -> (left: Int32, right: Int32) {
    var pair: [Int32] = [0, 0]
    let result = socketpair(AF_UNIX, larder_sock_stream | larder_sock_nonblock | larder_sock_cloexec, 0, &pair)
    try #require(result == 0)
    return (pair[0], pair[1])
}

func sendByte(_ descriptor: Int32) {
    var byte: UInt8 = 1
    _ = write(descriptor, &byte, 1)
}

@Suite("Event loop: descriptors")
struct EventLoopDescriptorTests {
    @Test("A readable descriptor reaches its handler, and the peer's close is reported separately")
    func readable() throws {
        let loop = try EventLoop()
        let pair = try makeSocketPair()
        let handler = ClosureHandler()
        var seen: [ReadyEvents] = []
        handler.onReady = { seen.append($0) }
        let registration = try loop.register(pair.left, [.read, .peerClose], handler: handler)
        loop.turn(waitingAtMost: 0)
        #expect(seen.isEmpty)
        sendByte(pair.right)
        loop.turn(waitingAtMost: 1000)
        #expect(seen == [.readable])
        close(pair.right)
        loop.turn(waitingAtMost: 1000)
        #expect(seen.last?.contains(.peerClosed) == true)
        loop.deregister(registration)
        close(pair.left)
        #expect(loop.registrationCount == 0)
    }

    @Test("A registration that is closed with its descriptor is no longer reported, and its peer sees the close")
    func closed() throws {
        let loop = try EventLoop()
        let pair = try makeSocketPair()
        let handler = ClosureHandler()
        var count = 0
        handler.onReady = { _ in count += 1 }
        let registration = try loop.register(pair.left, .read, handler: handler)
        sendByte(pair.right)
        loop.close(registration)
        loop.turn(waitingAtMost: 0)
        #expect(count == 0)
        #expect(loop.registrationCount == 0)
        // Not by its number, which a parallel test may already have reused.
        var other = pollfd(fd: pair.right, events: 0, revents: 0)
        #expect(poll(&other, 1, 0) == 1 && other.revents & Int16(POLLHUP) != 0)
        close(pair.right)
    }

    @Test("A turn reports at most four newcomers, after all other descriptors, until each has been admitted")
    func newcomers() throws {
        let loop = try EventLoop()
        var heard: [Int] = []
        var ends: [(near: Registration, far: Int32, handler: ClosureHandler)] = []
        for number in 0..<11 {
            let pair = try makeSocketPair()
            let handler = ClosureHandler()
            handler.onReady = { _ in
                heard.append(number)
                var byte: UInt8 = 0
                _ = read(pair.left, &byte, 1)
            }
            // The first ten are newcomers; the last is not.
            ends.append((try loop.register(pair.left, .read, handler: handler, isNewcomer: number < 10), pair.right, handler))
        }
        func turn(sending numbers: Range<Int> = 0..<0) -> [Int] {
            heard = []
            for number in numbers { sendByte(ends[number].far) }
            loop.turn(waitingAtMost: 0)
            return heard
        }
        #expect(turn(sending: 0..<11) == [10, 0, 1, 2, 3])
        #expect(turn(sending: 10..<11) == [10, 4, 5, 6, 7])
        #expect(turn() == [8, 9])
        #expect(turn().isEmpty)

        for number in 0..<3 { loop.admit(ends[number].near) }
        #expect(turn(sending: 0..<11) == [0, 1, 2, 10, 3, 4, 5, 6])
        #expect(turn() == [7, 8, 9])
        // Pending events of a newcomer stay pending, and so do changes of its interest.
        loop.modify(ends[3].near, Interest())
        loop.modify(ends[0].near, Interest())
        #expect(turn(sending: 0..<4) == [1, 2])
        loop.admit(ends[3].near)
        #expect(turn().isEmpty)
        loop.modify(ends[3].near, .read)
        loop.modify(ends[0].near, .read)
        #expect(turn().sorted() == [0, 3])
        // A newcomer with more data while it waits is reported once.
        for _ in 0..<3 { #expect(turn(sending: 4..<6) == [4, 5]) }
        // A newcomer that was closed meanwhile is not reported, and does not use up the turn.
        for end in ends[4...5] {
            sendByte(end.far)
            loop.close(end.near)
            close(end.far)
        }
        #expect(turn().isEmpty)
        ends.removeSubrange(4...5)
        for end in ends {
            loop.close(end.near)
            close(end.far)
        }
        #expect(loop.registrationCount == 0)
    }

    @Test("A newcomer whose peer closes after sending data is reported until its end has been read")
    func newcomerThatEnds() throws {
        let loop = try EventLoop()
        let pair = try makeSocketPair()
        let handler = ClosureHandler()
        var seen: [ReadyEvents] = []
        handler.onReady = { seen.append($0) }
        let registration = try loop.register(pair.left, .read, handler: handler, isNewcomer: true)
        sendByte(pair.right)
        shutdown(pair.right, Int32(SHUT_WR))
        for _ in 0..<3 { loop.turn(waitingAtMost: 0) }
        #expect(seen == [.readable, .readable, .readable])
        loop.close(registration)
        close(pair.right)
    }

    @Test("Interest can be changed and removed")
    func interest() throws {
        let loop = try EventLoop()
        let pair = try makeSocketPair()
        let handler = ClosureHandler()
        var seen: [ReadyEvents] = []
        handler.onReady = { seen.append($0) }
        let registration = try loop.register(pair.left, .write, handler: handler)
        loop.turn(waitingAtMost: 1000)
        #expect(seen == [.writable])
        loop.modify(registration, [])
        sendByte(pair.right)
        loop.turn(waitingAtMost: 0)
        #expect(seen.count == 1)
        loop.modify(registration, .read)
        loop.turn(waitingAtMost: 1000)
        #expect(seen == [.writable, .readable])
        loop.deregister(registration)
        close(pair.left)
        close(pair.right)
    }

    @Test("An event for a descriptor that was closed earlier in the batch never reaches the new connection with its number")
    func staleEvent() throws {
        let loop = try EventLoop()
        let first = try makeSocketPair()
        let second = try makeSocketPair()
        var registrations: [Int32: Registration] = [:]
        var reachedNewcomer = 0
        let newcomer = ClosureHandler()
        newcomer.onReady = { _ in reachedNewcomer += 1 }
        // Both become ready in one batch; the first to be reported closes the other, whose number a third one gets.
        var newPair: (left: Int32, right: Int32)?
        func replace(_ other: Int32) {
            guard newPair == nil, let registration = registrations[other] else { return }
            loop.deregister(registration)
            guard let pair = try? makeSocketPair() else { return }
            // One step instead of close and open, since tests run in parallel and share the numbers.
            #expect(dup2(pair.left, other) == other)
            close(pair.left)
            newPair = (other, pair.right)
            registrations[other] = try? loop.register(other, .read, handler: newcomer)
        }
        let firstHandler = ClosureHandler()
        firstHandler.onReady = { _ in replace(second.left) }
        let secondHandler = ClosureHandler()
        secondHandler.onReady = { _ in replace(first.left) }
        registrations[first.left] = try loop.register(first.left, .read, handler: firstHandler)
        registrations[second.left] = try loop.register(second.left, .read, handler: secondHandler)
        sendByte(first.right)
        sendByte(second.right)
        loop.turn(waitingAtMost: 1000)
        let pair = try #require(newPair)
        #expect(reachedNewcomer == 0)
        sendByte(pair.right)
        loop.turn(waitingAtMost: 1000)
        #expect(reachedNewcomer == 1)
        for registration in registrations.values { loop.deregister(registration) }
        for descriptor in Set([first.left, first.right, second.left, second.right, pair.left, pair.right]) { close(descriptor) }
    }

    @Test("A handler may end its own registration, and is released after it returns")
    func deregistersItself() throws {
        let loop = try EventLoop()
        let pair = try makeSocketPair()
        weak var weakHandler: ClosureHandler?
        do {
            let handler = ClosureHandler()
            weakHandler = handler
            var registration: Registration?
            handler.onReady = { _ in if let registration { loop.deregister(registration) } }
            registration = try loop.register(pair.left, .read, handler: handler)
        }
        #expect(weakHandler != nil, "the loop keeps a registered handler")
        sendByte(pair.right)
        loop.turn(waitingAtMost: 1000)
        #expect(weakHandler == nil)
        close(pair.left)
        close(pair.right)
    }
}

@Suite("Event loop: turns")
struct EventLoopTurnTests {
    @Test("Work deferred to the end of the batch runs once, after the batch; work that it defers runs in the next turn")
    func batchEnd() throws {
        let loop = try EventLoop()
        let handler = ClosureHandler()
        var runs: [UInt64] = []
        handler.onBatchEnd = {
            runs.append(loop.batchCount)
            if runs.count == 1 { loop.atEndOfBatch(handler) }
        }
        loop.atEndOfBatch(handler)
        loop.turn(waitingAtMost: -1)
        #expect(runs == [1])
        loop.turn(waitingAtMost: -1)
        #expect(runs == [1, 2])
        loop.turn(waitingAtMost: 0)
        #expect(runs.count == 2)
    }

    @Test("A due timer is reported once; a canceled or removed one never")
    func timers() throws {
        let loop = try EventLoop()
        let handler = ClosureHandler()
        var due: [TimerID] = []
        handler.onDeadline = { due.append($0) }
        let early = loop.makeTimer(handler)
        let cancelled = loop.makeTimer(handler)
        let removed = loop.makeTimer(handler)
        loop.setTimer(early, afterMilliseconds: 2)
        loop.setTimer(cancelled, afterMilliseconds: 1)
        loop.setTimer(removed, afterMilliseconds: 1)
        loop.cancelTimer(cancelled)
        loop.removeTimer(removed)
        while due.isEmpty { loop.turn(waitingAtMost: 1000) }
        loop.turn(waitingAtMost: 3)
        #expect(due == [early])
    }

    @Test("A timer that its own handler sets to a past time does not block the loop")
    func timerSetAgain() throws {
        let loop = try EventLoop()
        let handler = ClosureHandler()
        var count = 0
        handler.onDeadline = {
            count += 1
            loop.setTimer($0, at: loop.now)
        }
        let timer = loop.makeTimer(handler)
        loop.setTimer(timer, at: loop.now)
        loop.turn(waitingAtMost: 10)
        #expect(count == 1)
        loop.turn(waitingAtMost: 10)
        #expect(count == 2)
    }

    @Test("Wall-clock time is close to the current time")
    func wallClock() throws {
        let loop = try EventLoop()
        loop.turn(waitingAtMost: 0)
        let difference = loop.wallClockMilliseconds - Int64(time(nil)) * 1000
        #expect(abs(difference) < 5000)
    }
}
