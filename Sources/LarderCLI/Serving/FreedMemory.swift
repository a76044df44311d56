import CLarderLinux
import EventLoop
import ProxyAdmin

/// Returns freed memory to the system, on its own thread.
///
/// Responses are allocated and freed in any order. Loops free memory that the store allocated, and the store frees memory of loops. The C
/// library's heaps then contain many empty pages, which the library keeps. A hit allocates nothing, so it does not wait for a heap's lock.
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
    /// The free memory that may be held in addition to `left`, in bytes. `left` is the free memory that could not be returned the last
    /// time, because it is between blocks in use.
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

    /// The resident memory that is free, in bytes.
    private static func free() -> Int? { ProcessMemory.anonymousBytes().map { max(0, $0 - ProcessMemory.allocator().given) } }
}
