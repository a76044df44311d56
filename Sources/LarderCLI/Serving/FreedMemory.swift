import CLinux
import EventLoop
import ProxyAdmin

/// Gives memory that was freed back to the system, on a thread of its own.
///
/// Responses come and go in every order, and loops free what the store has allocated and the other way round: the C library's heaps are then
/// full of pages that hold nothing, and it keeps them. A hit allocates nothing, and does not wait for a heap's lock.
final class FreedMemory: Sendable {
    private let thread: LoopThread

    init() throws(SystemError) {
        thread = try LoopThread(name: "freed-memory", .beside) { loop in
            let tick = FreedMemoryTick(loop)
            loop.owner = tick
            tick.begin()
        }
    }

    func close() {
        thread.handle.post { $0.stop() }
        thread.join()
    }
}

private final class FreedMemoryTick: TimerHandler {
    private static let milliseconds = 5_000
    /// So much may be held that is free, and so much more than what the last time has left: that stands between blocks in use.
    private static let kept = 8 << 20

    private unowned let loop: EventLoop
    private var timer: TimerID?
    private var left = 0

    init(_ loop: EventLoop) { self.loop = loop }

    func begin() {
        let timer = loop.makeTimer(self)
        self.timer = timer
        loop.setTimer(timer, afterMilliseconds: Self.milliseconds)
    }

    func deadlinePassed(_ timer: TimerID) {
        giveBack()
        loop.setTimer(timer, afterMilliseconds: Self.milliseconds)
    }

    private func giveBack() {
        guard let free = Self.free() else { return }
        if free < left { left = free }
        guard free > left + Self.kept else { return }
        larder_give_back_pages()
        left = Self.free() ?? 0
    }

    /// What is resident and given out to nobody.
    private static func free() -> Int? { ProcessMemory.anonymousBytes().map { max(0, $0 - ProcessMemory.allocator().given) } }
}
