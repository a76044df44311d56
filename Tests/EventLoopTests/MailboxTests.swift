import CLarderLinux
import Glibc
import Testing

@testable import EventLoop

@Suite("Mailbox and replies")
struct MailboxTests {
    @Test("Messages from other threads arrive in order, and a burst wakes the loop once")
    func burst() throws {
        let loop = try EventLoop()
        var seen: [Int] = []
        let collect = loop.reply { (values: [Int]) in seen = values }
        let log = Guarded<[Int]>([])
        let handle = loop.handle
        for number in 0..<100 { handle.post { _ in log.withLock { $0.append(number) } } }
        let before = loop.batchCount
        loop.turn(waitingAtMost: 1000)
        #expect(log.withLock { $0 } == Array(0..<100))
        #expect(loop.batchCount == before + 1)
        collect.send([7])
        loop.turn(waitingAtMost: 1000)
        #expect(seen == [7])
        loop.turn(waitingAtMost: 0)
    }

    @Test("A reply reaches its handler once; after forget, never")
    func replies() throws {
        let loop = try EventLoop()
        var seen: [Int] = []
        let reply = loop.reply { seen.append($0) }
        let forgotten = loop.reply { (value: Int) in seen.append(-value) }
        loop.forget(forgotten)
        let thread = try LoopThread(name: "sender") { other in
            reply.send(1)
            reply.send(2)
            forgotten.send(3)
            other.stop()
        }
        thread.handle.stop()
        thread.join()
        loop.turn(waitingAtMost: 1000)
        #expect(seen == [1])
    }

    @Test("A port accepts many messages until it is closed")
    func ports() throws {
        let loop = try EventLoop()
        var seen: [Int] = []
        let port = loop.port { seen.append($0) }
        port.send(1)
        port.send(2)
        loop.turn(waitingAtMost: 1000)
        loop.close(port)
        port.send(3)
        loop.turn(waitingAtMost: 1000)
        #expect(seen == [1, 2])
    }

    @Test("A loop on its own thread handles messages until it is stopped, and then rejects them")
    func thread() throws {
        let sum = Guarded(0)
        let thread = try LoopThread(name: "loop") { _ in sum.withLock { $0 += 1 } }
        for _ in 0..<1000 { thread.handle.post { _ in sum.withLock { $0 += 1 } } }
        thread.handle.stop()
        thread.join()
        #expect(sum.withLock { $0 } == 1001)
        #expect(thread.handle.post { _ in } == false)
    }
}
